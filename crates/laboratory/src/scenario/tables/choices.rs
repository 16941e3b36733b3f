//! Named choices of the tables.

use layercast_core::choices;

choices! {
    /// A layer scheme without its parameters ([`Scheme`](layercast_core::layers::Scheme)).
    pub enum SchemeKind {
        /// The cumulative rate doubles.
        Doubling = "doubling",
        /// All layers have the same rate.
        Equal = "equal",
        /// Layer i has i + 1 times the base rate.
        IncreaseByOne = "increase-by-one",
        /// The cumulative rate grows by a factor.
        Multiplicative = "multiplicative",
        /// For k equal sessions on one link.
        HeavyTail = "heavy-tail",
        /// A table of cumulative rates.
        Explicit = "explicit",
        /// Fractions of capacities.
        Fractions = "fractions",
    }
}

choices! {
    /// What becomes of the queue of a link that goes down.
    pub enum DownQueue {
        /// It waits for the link to come up.
        Keep = "keep",
        /// It is dropped.
        Flush = "flush",
    }
}

choices! {
    /// What a querier does after a leave.
    pub enum LeaveChoice {
        /// It queries for other members.
        Check = "check",
        /// It tracks its hosts, and queries after the last one has left.
        Tracked = "tracked",
        /// It tracks its hosts, and prunes when the last one leaves.
        Fast = "fast",
    }
}

choices! {
    /// What becomes of edges between the same two nodes, of which a scenario has one.
    #[derive(Default)]
    pub enum Parallel {
        /// The topology is refused.
        #[default]
        Refuse = "refuse",
        /// The fastest is taken; of equal ones the first.
        Fastest = "fastest",
        /// One link has the rates of all together, and the shortest delay.
        Sum = "sum",
    }
}

choices! {
    /// What the nodes are called.
    #[derive(Default)]
    pub enum NodeNames {
        /// As their labels.
        #[default]
        Label = "label",
        /// As their identifiers.
        Id = "id",
    }
}

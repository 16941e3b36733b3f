//! A protocol of another crate: declared here, joined with the built-in ones, read from a scenario, run against
//! one of them, and compared.

#![allow(unreachable_pub, reason = "a crate outside has its items public")]

use layercast_core::family::{AnyProtocol, Family, Union};
use layercast_core::wire::WireNumbers;
use layercast_laboratory::compare::{self, CompareRequest, Comparison};
use layercast_laboratory::results::Summary;
use layercast_laboratory::results::summary::RunCost;
use layercast_laboratory::run::{self, BuildError, RunError, RunRequest};
use layercast_laboratory::scenario::{self, Catalogue, Scenario};
use layercast_protocols::registry::Registry;

/// Sends every layer at its rate; receivers hold a level. The least that a protocol is.
mod steady {
    use layercast_core::contract::{
        Action, ActionQueue, Cause, Endpoint, Estimates, Input, Send, TraceEvent,
    };
    use layercast_core::lct::{Cci, ContentError, ExtensionPayload, LctFields};
    use layercast_core::session::{Requirements, SessionPlan};
    use layercast_core::stream::Stream;
    use layercast_core::units::{Layer, Level, Time, WireSeq};
    use layercast_core::wire::{Wire, WireNumbers};
    use layercast_kit::pacing::LayerClocks;

    layercast_core::options! {
        /// Options of the protocol.
        pub struct Options {
            /// How many layers receivers hold.
            layers: u32 = 1, 1 => 100;
        }
    }

    impl Requirements for Options {}

    /// The header of data: its layer and number.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Header(Layer, WireSeq);

    impl layercast_core::contract::Header for Header {}

    impl Wire for Header {
        type Error = ContentError;

        fn to_lct(&self, numbers: &WireNumbers) -> Option<LctFields> {
            let payload = ExtensionPayload::default().with(&self.0.0.to_be_bytes());
            let extension = payload.extension(numbers.extension());
            let cci = Cci::Short(self.1.0.to_be_bytes());
            Some(LctFields { cci, session: None, end_of_session: false, extension })
        }

        fn from_lct(fields: &LctFields, _numbers: &WireNumbers) -> Result<Header, Self::Error> {
            let content = fields.extension.content();
            let layer = content.try_into().map_err(|_| ContentError { len: content.len() })?;
            Ok(Header(Layer(u16::from_be_bytes(layer)), WireSeq(u32::from_be_bytes(fields.cci.first()))))
        }

        fn layer(&self) -> Option<Layer> {
            Some(self.0)
        }
    }

    #[derive(Clone, Debug)]
    pub struct Source {
        plan: SessionPlan,
        stream: Stream,
        clocks: LayerClocks,
        actions: ActionQueue<Header>,
    }

    impl Source {
        pub fn new(_options: &Options, plan: SessionPlan, stream: Stream) -> Source {
            Source { plan, stream, clocks: LayerClocks::default(), actions: ActionQueue::default() }
        }
    }

    impl Endpoint for Source {
        type Header = Header;

        fn handle(&mut self, now: Time, input: Input<Header>) {
            match input {
                Input::Start => self.clocks.begin(now, &self.plan, &mut self.stream, false),
                Input::Finish | Input::Stop => self.clocks.stop(),
                _ => {}
            }
            while let Some((layer, seq)) = self.clocks.take_due(now) {
                let packet = Send::data(layer.channel(), Header(layer, seq), self.plan.packet_size);
                self.actions.send(packet);
            }
        }

        fn poll_action(&mut self) -> Option<Action<Header>> {
            self.actions.pop()
        }

        fn deadline(&self) -> Option<Time> {
            self.clocks.next()
        }

        fn estimates(&self, _now: Time) -> Estimates {
            Estimates::default()
        }
    }

    #[derive(Clone, Debug)]
    pub struct Receiver {
        wanted: Level,
        held: Level,
        actions: ActionQueue<Header>,
    }

    impl Receiver {
        pub fn new(options: &Options, plan: SessionPlan, _stream: Stream) -> Receiver {
            let wanted = Level::from_count(plan.layers.count().min(options.layers as u16));
            Receiver { wanted, held: Level::NONE, actions: ActionQueue::default() }
        }
    }

    impl Endpoint for Receiver {
        type Header = Header;

        fn handle(&mut self, _now: Time, input: Input<Header>) {
            let (to, cause) = match input {
                Input::Start => (self.wanted, Cause::Start),
                Input::Stop => (Level::NONE, Cause::Stop),
                _ => return,
            };
            let from = std::mem::replace(&mut self.held, to);
            for layer in from.layer_count()..to.layer_count() {
                self.actions.join(Layer(layer).channel());
            }
            for layer in (to.layer_count()..from.layer_count()).rev() {
                self.actions.leave(Layer(layer).channel());
            }
            self.actions.trace(TraceEvent::LevelChanged { from, to, cause });
        }

        fn poll_action(&mut self) -> Option<Action<Header>> {
            self.actions.pop()
        }

        fn deadline(&self) -> Option<Time> {
            None
        }

        fn estimates(&self, _now: Time) -> Estimates {
            Estimates { level: self.held, ..Estimates::default() }
        }
    }
}

mod outside {
    use super::steady;

    layercast_core::family! {
        /// The protocols of this crate.
        pub Outside {
            /// Layers at a fixed level.
            Steady = "steady" in steady on [100];
        }
    }
}

/// All that is simulated.
type All = Union<outside::Outside, Registry>;

const SHARED: &str = r#"
name = "Shared"
duration = "8 s"
windows = [["2 s", "end"]]

[links]
S-G = { rate = "1 Mbit/s", delay = "10 ms", queue = { limit = "20 packets" } }
G-R = { rate = "100 Mbit/s", delay = "1 ms", queue = { limit = "50 packets" } }

[defaults.session]
source = "S"
receivers = ["R"]
layers = { scheme = "equal", base = "100 kbit/s", count = 8 }

[sessions.outside]
protocol = "steady"
options = { layers = 3 }

[sessions.inside]
protocol = "elm"
"#;

fn catalogue() -> Catalogue {
    Catalogue::of::<All>()
}

fn shared() -> Scenario {
    scenario::read("shared", SHARED, &[], &catalogue()).unwrap()
}

#[test]
fn it_shares_a_bottleneck_with_a_built_in_protocol() {
    let outcome = run::run::<All>(&shared(), &RunRequest::default(), &|_| {}).unwrap();
    let cost = RunCost { wall_s: 0.0, peak_rss_bytes: None };
    let summary = Summary::new(&outcome.experiment, &outcome.replications, cost).unwrap();
    let kbps = |name: &str| {
        summary.flows.iter().find(|flow| flow.name == name).unwrap().measures.throughput_kbps.mean.unwrap()
    };
    assert!((270.0..=310.0).contains(&kbps("outside@R")), "three layers: {}", kbps("outside@R"));
    assert!((100.0..=700.0).contains(&kbps("inside@R")), "what is left: {}", kbps("inside@R"));
}

#[test]
fn it_is_compared_with_a_built_in_protocol() {
    let request = CompareRequest {
        id: "shared".to_owned(),
        text: SHARED.to_owned(),
        protocols: vec!["steady".to_owned(), "rlc".to_owned()],
        sessions: vec!["outside".to_owned()],
        ..CompareRequest::default()
    };
    let prepared = compare::read(&request, &catalogue()).unwrap();
    let results = compare::run_all::<All>(prepared, Some(1), &|_, _| {}).unwrap();
    let comparison = Comparison::new(&results, "layercast compare", None).unwrap();
    let names: Vec<&str> = comparison.protocols.iter().map(|row| row.protocol.as_str()).collect();
    assert_eq!(names, ["steady", "rlc"]);
    let changes = |row: usize| comparison.protocols[row].level_changes_per_min.mean.unwrap();
    assert!(changes(0) == 0.0 && changes(1) > 0.0, "{} and {}", changes(0), changes(1));
}

#[test]
fn another_family_refuses_it() {
    let error = run::run::<Registry>(&shared(), &RunRequest::default(), &|_| {}).unwrap_err();
    let RunError::Build(BuildError::Family { session, protocol }) = error else { panic!("{error}") };
    assert_eq!((session.as_str(), protocol), ("outside", "steady"));
    let errors = scenario::read("shared", SHARED, &[], &Catalogue::of::<Registry>()).unwrap_err();
    assert!(errors.to_string().contains("\"steady\" is not known"), "{errors}");
}

#[test]
fn the_wire_numbers_of_all_protocols_differ() {
    type Protocol = <All as Family>::Protocol;
    let names = Protocol::names();
    assert_eq!(names.len(), 1 + Catalogue::of::<Registry>().names().len());
    let numbers: Vec<WireNumbers> =
        names.iter().map(|name| Protocol::named(name).unwrap().wire_numbers()).collect();
    assert!(layercast_core::family::numbers_differ(&numbers), "{numbers:?}");
}

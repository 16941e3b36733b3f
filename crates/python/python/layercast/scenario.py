"""Scenarios as dataclasses, a class for each table of a scenario file.

The names are those of the file; where Python has a word of its own, an underscore follows (`from_`). A scenario
is written as TOML and read by the laboratory, which decides what is right: a wrong value is an error when the
scenario is used, with its line in `Scenario.to_toml()`. Keys that are None are left out, so that the default holds.

Made from the laboratory's own descriptions: `make generated` rewrites it.
"""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import tomli_w

from layercast._table import Table


@dataclass(kw_only=True)
class Defaults(Table):
    """What holds for all links, sessions, flows or edges unless they say otherwise. `queue`, `layers`,
    `options` and `loss` are taken over key by key, all else as a whole.

    Parameters
    ----------
    link : Link
        For each link. Takes a table such as { rate = "100 Mbit/s", delay = "10 ms" }. If None: none.
    session : Session
        For each session. Takes a table such as { protocol = "elm", source = "S", receivers = ["R1"] }. If
        None: none.
    flow : Flow
        For each flow. Takes a table such as { protocol = "tcp-sack", from = "S", to = "R1" }. If None:
        none.
    edge : NetworkEdge
        For each edge; if it is given, every node with receivers has one. Takes a table such as { querier =
        "igmpv3", leave = "fast" }. If None: none.
    """

    link: Link | None = None
    session: Session | None = None
    flow: Flow | None = None
    edge: NetworkEdge | None = None


@dataclass(kw_only=True)
class Topology(Table):
    """Links from a file. `links` and `defaults.link` give what the file does not: an imported value holds
    where `links` has none for that link. Paths are relative to the scenario file.

    Parameters
    ----------
    graphml : str
        GraphML as the Internet Topology Zoo has it; edges from a node to itself are left out. Rates come
        from `LinkSpeedRaw` or `LinkSpeed` and `LinkSpeedUnits`, delays from `Latitude` and `Longitude` over
        the great circle at two thirds of the speed of light. Takes text that is not empty. If None: not
        needed with `csv`.
    csv : str
        A link a line; the columns are `from`, `to` and keys of a link, such as `rate` or `queue.kind`. An
        empty value is as if it were not there. Takes text that is not empty. If None: not needed with
        `graphml`.
    names : Literal["label", "id"]
        Of `graphml`: what nodes are called. Latin letters lose their accents (Zürich becomes `Zurich`);
        all else but letters from A to Z, digits, `_`, `-` and `.` becomes `_`. A node whose label has none
        of these letters and digits has its `id` as its name; nodes that share a label have their `id`
        behind it. Takes one of "label", "id". By default label.
    parallel : Literal["refuse", "fastest", "sum"]
        Of `graphml`: what becomes of several edges between two nodes: an error, the fastest alone, or one
        link with the rates of all. Takes one of "refuse", "fastest", "sum". By default refuse.
    """

    graphml: str | None = None
    csv: str | None = None
    names: Literal["label", "id"] | None = None
    parallel: Literal["refuse", "fastest", "sum"] | None = None


@dataclass(kw_only=True)
class For(Table):
    """A template: its tables are made once for each row of values, and `{variable}` in names and texts
    stands for the row's value. A text that is a variable alone becomes a number where its key takes
    one, and an empty one is left out. `{{` and `}}` are braces. What two rows make under the same name
    is joined key by key, and lists of nodes and flows are added up. `layercast expand` shows what is
    made.

    Parameters
    ----------
    each : Mapping[str, str | Sequence[Any]]
        The variables with their values, side by side: each has as many. A range such as `"01..30"` has
        numbers as wide as its first if that begins with 0; a list may have ranges in it. Takes a table such
        as { site = "01..30", rate = ["5 Mbit/s", "8 Mbit/s"] }. If None: not needed with `csv`.
    csv : str
        A file of comma-separated values whose first line names the variables. The path is relative to the
        scenario file. Takes text that is not empty. If None: not needed with `each`.
    links : Mapping[str, Any]
        Links. Takes tables under names, with `{variable}` in names and texts. If None: none.
    sessions : Mapping[str, Any]
        Sessions, or receivers for one that is there. Takes tables under names, with `{variable}` in names
        and texts. If None: none.
    flows : Mapping[str, Any]
        Unicast flows. Takes tables under names, with `{variable}` in names and texts. If None: none.
    edges : Mapping[str, Any]
        Edge routers. Takes tables under names, with `{variable}` in names and texts. If None: none.
    groups : Mapping[str, Any]
        Groups, or flows for one that is there. Takes tables under names, with `{variable}` in names and
        texts. If None: none.
    paper : Mapping[str, Any]
        Numbers of a paper. Takes tables under names, with `{variable}` in names and texts. If None: none.
    probes : Mapping[str, Any]
        Probes. Takes tables under names, with `{variable}` in names and texts. If None: none.
    for_ : Sequence[For]
        Templates for each row; they have its variables too. Takes a list such as [{ each = { site =
        "01..30" }, links."CORE-SITE{site}" = { rate = "10 Mbit/s" } }]. If None: none.
    """

    each: Mapping[str, str | Sequence[Any]] | None = None
    csv: str | None = None
    links: Mapping[str, Any] | None = None
    sessions: Mapping[str, Any] | None = None
    flows: Mapping[str, Any] | None = None
    edges: Mapping[str, Any] | None = None
    groups: Mapping[str, Any] | None = None
    paper: Mapping[str, Any] | None = None
    probes: Mapping[str, Any] | None = None
    for_: Sequence[For] | None = None


@dataclass(kw_only=True)
class Link(Table):
    """A link `A-B` between two nodes. Forward is from A to B.

    Parameters
    ----------
    from_ : str
        The node A, where the link's name does not say it: `uplink = { from = "rack-1", to = "core" }`.
        Takes the name of a node. If None: the node before the dash of the link's name.
    to : str
        The node B, together with `from`. Takes the name of a node. If None: the node behind the dash.
    rate : str
        How fast it transmits, in both directions; not needed where `trace` says when. Takes a rate above
        zero, such as "100 Mbit/s". Required, unless defaults have it.
    rate_backward : str
        The rate from B to A. Takes a rate above zero, such as "100 Mbit/s". If None: as `rate`.
    delay : str | Draw
        Propagation delay, the same in both directions. Takes a time such as "10 s", or a range such as {
        uniform = ["0 s", "20 s"] }. Required, unless defaults have it.
    delay_backward : str | Draw
        The delay from B to A. Takes a time such as "10 s", or a range such as { uniform = ["0 s", "20 s"]
        }. If None: as `delay`.
    queue : Queue
        The queues of both directions. Takes a table such as { kind = "drop-tail", limit = "50 packets" }.
        If None: drop-tail of what the link carries in 100 ms.
    queue_backward : Queue
        The queue from B to A, key by key. Takes a table such as { kind = "drop-tail", limit = "50 packets"
        }. If None: as `queue`.
    loss : float | Loss
        Losses other than the queue's: the probability that a packet is lost, independently of others, or a
        model for each direction. A plain number is forward only. Takes a number from 0 to below 1, or {
        forward = 0.01, backward = 0.0 }. By default 0.
    changes : Sequence[Change]
        How it changes during the run, in the order of time; see `docs/links.md`. Takes a list such as [{ at
        = "10 s", rate = "2 Mbit/s" }]. If None: none.
    rates : str
        A file of rates for both directions, in addition to `changes`: a time and a rate a line, `10 s 2
        Mbit/s`. The path is relative to the scenario file. Takes text that is not empty. If None: none.
    changes_repeat : str
        After how long all `changes` and `rates` happen again, and again; after the last of them. Takes a
        time above zero, such as "1 s". If None: once.
    avoid_reordering : bool
        Whether packets arrive in order where the delay falls; otherwise one may overtake another. Takes
        true or false. By default false.
    down : Sequence[Sequence[str]]
        When it is down, in both directions. Takes a list of rising times without overlap, such as [["10 s",
        "12 s"], ["20 s", "21 s"]]. If None: none.
    down_queue : Literal["keep", "flush"]
        Whether what waits when it goes down waits on or is lost. Takes one of "keep", "flush". By default
        keep.
    trace : str
        A file of delivery times for the direction forward, in place of a rate: one time in ms a line, each
        for 1500 bytes, as mahimahi has them. The path is relative to the scenario file. Takes text that is
        not empty. If None: none.
    trace_backward : str
        The same from B to A. Takes text that is not empty. If None: none.
    """

    from_: str | None = None
    to: str | None = None
    rate: str | None = None
    rate_backward: str | None = None
    delay: str | Draw | None = None
    delay_backward: str | Draw | None = None
    queue: Queue | None = None
    queue_backward: Queue | None = None
    loss: float | Loss | None = None
    changes: Sequence[Change] | None = None
    rates: str | None = None
    changes_repeat: str | None = None
    avoid_reordering: bool | None = None
    down: Sequence[Sequence[str]] | None = None
    down_queue: Literal["keep", "flush"] | None = None
    trace: str | None = None
    trace_backward: str | None = None


@dataclass(kw_only=True)
class Queue(Table):
    """What waits for transmission on a link. The kinds, each with its options: `docs/queues.md`.

    Parameters
    ----------
    kind : Literal["drop-tail", "red", "codel", "rem", "pie", "fq-codel", "dualpi2", "fair"]
        What it drops, and when. Takes one of "drop-tail", "red", "codel", "rem", "pie", "fq-codel",
        "dualpi2", "fair". By default drop-tail.
    limit : str
        Of `drop-tail`: how much it holds. Of `red`: how much it holds; automatic is 50 packets, in bytes
        with `average_bytes`. Of `codel`: how much it holds; what does not fit is dropped on arrival. Of
        `rem`: how much it holds. As in ns-2, an arrival that would make it reach the limit is dropped. Of
        `pie`: how much it holds; what does not fit is dropped. Of `fq-codel`: how much all queues hold
        together. What exceeds it is dropped from the longest one. Of `dualpi2`: how much both queues hold
        together; automatic is what the link sends in 250 ms. Of `fair`: how much all queues hold together.
        When it is exceeded, the last packet of the longest queue is dropped. Takes "unlimited", "45000
        bytes" or "50 packets"; "automatic" or "unlimited", "45000 bytes" or "50 packets". If None:
        `unlimited` of drop-tail, codel, pie, fair; `automatic` of red, dualpi2; `50 packets` of rem; `10240
        packets` of fq-codel.
    ns2_compat : bool
        Of `drop-tail`: count as ns-2 does: an arrival is dropped when the queue with it would reach the
        limit, so one packet (or byte) less waits than the limit says. Otherwise when it would exceed the
        limit. Takes true or false. By default false.
    drop_front : bool
        Of `drop-tail`: an arrival that does not fit takes the place of the first that waits, or of as many
        as it needs, instead of being dropped. Takes true or false. By default false.
    profile : Literal["ns2", "classic"]
        Of `red`: where the defaults of all others come from; `classic` is what papers before 2001 mean.
        Takes one of ns2, classic. By default ns2.
    min_threshold : float | str
        Of `red`: the average queue from which packets are dropped, in packets of `mean_packet`; automatic
        is the larger of 5 packets and half of what the link sends in `target`. Takes "automatic" or a
        number above 0. If None: `automatic` of red (ns2); `5` of red (classic).
    max_threshold : float | str
        Of `red`: the average queue at which `max_probability` is reached, above `min_threshold`; automatic
        is three times that. Takes "automatic" or a number above 0. If None: `automatic` of red (ns2); `15`
        of red (classic).
    weight : float | str
        Of `red`: the weight of the newest sample in the average; automatic averages over about ten
        round-trip times of the link. Takes "automatic" or a number above 0 and up to 1. If None:
        `automatic` of red (ns2); `0.002` of red (classic).
    max_probability : float
        Of `red`: the probability of a drop at `max_threshold`. Takes a number above 0 and up to 1. By
        default 0.1.
    gentle : bool
        Of `red`: let the probability rise to 1 between `max_threshold` and twice of it, not at once. Takes
        true or false. If None: `true` of red (ns2); `false` of red (classic).
    wait : bool
        Of `red`: leave at least one mean distance between two drops; otherwise spread them uniformly over
        the mean distance, as Floyd and Jacobson do. Takes true or false. By default true.
    byte_mode : bool
        Of `red`: scale the probability by a packet's size. Of `rem`: count the queue and scale the
        probability by bytes instead of packets. Takes true or false. If None: `true` of red (ns2); `false`
        of red (classic), rem.
    average_bytes : bool
        Of `red`: average the queue in bytes instead of packets. Takes true or false. If None: `true` of red
        (ns2); `false` of red (classic).
    mean_packet : str
        Of `red`: the size of packets that thresholds and capacity are counted in. Of `rem`: the size of
        packets that the capacity is counted in. Of `pie`: the size of packets that a short queue is counted
        in: of up to two, none is dropped. Takes a size such as "1000 bytes", above 0 bytes. If None: `500
        bytes` of red; `1000 bytes` of rem, pie.
    target : str
        Of `red`: the delay that the automatic `min_threshold` aims at. Of `codel`: the wait that is
        acceptable in the long run. Of `pie`: target delay. Of `fq-codel`: the wait in a queue that is
        acceptable in the long run. Of `dualpi2`: target delay of the classic queue. Takes a length of time
        such as "250 ms", above 0 s. If None: `5 ms` of red, codel, fq-codel; `15 ms` of pie, dualpi2.
    adaptive : bool
        Of `red`: move `max_probability` so that the average stays in the middle between the thresholds.
        Takes true or false. By default false.
    victim : Literal["last", "random", "front"]
        Of `red`: which packet is dropped when one must be. Takes one of last, random, front. By default
        last.
    ecn : bool
        Of `red`: mark ECN-capable packets instead of dropping them early. Of `codel`, `fq-codel`: mark
        ECN-capable packets instead of dropping them. Of `rem`: mark ECN-capable packets on departure, and
        drop only what finds no room. Of `pie`: up to a probability of 0.1, mark ECN-capable packets instead
        of dropping them. Takes true or false. If None: `false` of red, codel, rem, pie; `true` of fq-codel.
    mark_probability : float
        Of `red`: with `ecn`: above this probability ECN-capable packets are dropped too. Takes a number
        above 0 and up to 1. By default 0.1.
    use_mark_probability : bool
        Of `red`: with `ecn`: otherwise packets are marked with any probability, but all are dropped from
        `max_threshold` on (twice of it if gentle). Takes true or false. By default true.
    interval : str
        Of `codel`: how long the wait may stay above the target before the first drop; about the longest
        round-trip time of the flows. Of `fq-codel`: how long the wait in a queue may stay above the target
        before the first drop. Takes a length of time such as "250 ms", above 0 s. By default 100 ms.
    max_packet : str
        Of `codel`: with no more than this left behind it, a packet is not dropped: the largest packet. Of
        `fq-codel`: with no more than this left behind it in its queue, a packet is not dropped. Takes a
        size such as "1000 bytes", above 0 bytes. By default 1500 bytes.
    gamma : float
        Of `rem`: how fast the price follows. Takes a number above 0. By default 0.001.
    phi : float
        Of `rem`: the base of the exponent. Takes a number above 1. By default 1.001.
    input_weight : float
        Of `rem`: the weight of the newest interval in the average of arrivals; 1 for no average. Takes a
        number above 0 and up to 1. By default 1.
    target_packets : float
        Of `rem`: target length of the queue, in packets. Takes a number above 0. By default 20.
    update : str
        Of `rem`: the time between two updates of the price. Of `pie`, `dualpi2`: the time between two
        updates of the probability. Takes a length of time such as "250 ms", above 0 s. If None: `2 ms` of
        rem; `15 ms` of pie; `16 ms` of dualpi2.
    max_burst : str
        Of `pie`: how long a burst passes after calm before anything is dropped. Takes a length of time such
        as "250 ms". By default 150 ms.
    alpha : float
        Of `pie`: the weight of the distance from the target, per second. Of `dualpi2`: the weight of the
        distance from the target at an update, per second. Takes a number above 0. If None: `0.125` of pie;
        `0.16` of dualpi2.
    beta : float
        Of `pie`: the weight of the delay's change, per second. Of `dualpi2`: the weight of the delay's
        change at an update, per second. Takes a number above 0. If None: `1.25` of pie; `3.2` of dualpi2.
    queues : int
        Of `fq-codel`: how many queues flows are hashed into. Takes a whole number from 1 to 65536. By
        default 1024.
    quantum : str
        Of `fq-codel`: what a queue may send before it is another's turn. Of `fair`: what each flow may send
        in a round. Takes a size such as "1000 bytes", above 0 bytes. If None: `1514 bytes` of fq-codel;
        `1500 bytes` of fair.
    coupling : float
        Of `dualpi2`: how many times the base probability scalable packets are marked with (k of the RFC);
        the others get its square. Takes a number above 0. By default 2.
    ramp_start : str
        Of `dualpi2`: the wait from which scalable packets are marked, whatever the controller says. Takes a
        length of time such as "250 ms". By default 800 us.
    ramp_range : str
        Of `dualpi2`: by how much longer a wait marks all scalable packets. Takes a length of time such as
        "250 ms". By default 400 us.
    low_delay_weight : int
        Of `dualpi2`: how many scalable packets go for one of the others while both wait. Takes a whole
        number of at least 1. By default 15.
    """

    kind: Literal["drop-tail", "red", "codel", "rem", "pie", "fq-codel", "dualpi2", "fair"] | None = None
    limit: str | None = None
    ns2_compat: bool | None = None
    drop_front: bool | None = None
    profile: Literal["ns2", "classic"] | None = None
    min_threshold: float | str | None = None
    max_threshold: float | str | None = None
    weight: float | str | None = None
    max_probability: float | None = None
    gentle: bool | None = None
    wait: bool | None = None
    byte_mode: bool | None = None
    average_bytes: bool | None = None
    mean_packet: str | None = None
    target: str | None = None
    adaptive: bool | None = None
    victim: Literal["last", "random", "front"] | None = None
    ecn: bool | None = None
    mark_probability: float | None = None
    use_mark_probability: bool | None = None
    interval: str | None = None
    max_packet: str | None = None
    gamma: float | None = None
    phi: float | None = None
    input_weight: float | None = None
    target_packets: float | None = None
    update: str | None = None
    max_burst: str | None = None
    alpha: float | None = None
    beta: float | None = None
    queues: int | None = None
    quantum: str | None = None
    coupling: float | None = None
    ramp_start: str | None = None
    ramp_range: str | None = None
    low_delay_weight: int | None = None


@dataclass(kw_only=True)
class Loss(Table):
    """Losses of each direction other than the queue's.

    Parameters
    ----------
    forward : float | LossModel
        From the first node of the link's name to the second. Takes a number from 0 to below 1, or a model
        such as { model = "periodic", period = 100 }. By default 0.
    backward : float | LossModel
        From the second node to the first. Takes a number from 0 to below 1, or a model such as { model =
        "periodic", period = 100 }. By default 0.
    """

    forward: float | LossModel | None = None
    backward: float | LossModel | None = None


@dataclass(kw_only=True)
class LossModel(Table):
    """An error model of one direction of a link; see `docs/queues.md`.

    Parameters
    ----------
    model : Literal["bernoulli", "bernoulli-per-byte", "gilbert-elliott", "two-state", "periodic", "list"]
        Independent losses by packet or by byte, losses in bursts or in periods, at regular distances, or of
        given packets. Takes one of "bernoulli", "bernoulli-per-byte", "gilbert-elliott", "two-state",
        "periodic", "list". Required, unless defaults have it.
    probability : float
        Of `bernoulli`: that a packet is lost; of `bernoulli-per-byte`: a byte, and the packet with it.
        Takes a number from 0 to below 1. If None: as the model needs.
    to_bad : float
        Of `gilbert-elliott`: from the good state to the bad one, at each packet. Takes a number from 0 to
        1. If None: as the model needs.
    to_good : float
        Of `gilbert-elliott`: from the bad state to the good one; the mean burst is 1 over it. Takes a
        number from 0 to 1. If None: as the model needs.
    bad_loss : float
        Of `gilbert-elliott`: that a packet is lost in the bad state. Takes a number from 0 to 1. By default
        1.
    good_loss : float
        Of `gilbert-elliott`: that a packet is lost in the good state. Takes a number from 0 to 1. By
        default 0.
    good_length : int
        Of `two-state`: the mean length of a period without losses, in `unit`. Takes a whole number of at
        least 1. If None: as the model needs.
    bad_length : int
        Of `two-state`: the mean length of a period in which all is lost, in `unit`; the share lost is
        bad_length/(good_length + bad_length). Takes a whole number of at least 1. If None: as the model
        needs.
    unit : Literal["packets", "bytes"]
        Of `two-state`: what lengths are counted in. Takes one of "packets", "bytes". By default packets.
    distribution : Literal["exponential", "constant"]
        Of `two-state`: how lengths are distributed. Takes one of "exponential", "constant". By default
        exponential.
    ns2_compat : bool
        Of `two-state`: as ns-2, lose the packet in which a good period ends too: of constant periods in
        packets (bad_length + 1)/(good_length + bad_length). Takes true or false. By default false.
    period : int
        Of `periodic`: from one loss to the next, in packets. Takes a whole number of at least 1. If None:
        as the model needs.
    offset : int
        Of `periodic`: the first packet lost, counted from 1; 0 is as good as 1. Takes a whole number of at
        least 0. By default 0.
    burst : int
        Of `periodic`: how many are lost in a row; 0 is as good as 1. Takes a whole number of at least 0. By
        default 0.
    packets : Sequence[int]
        Of `list`: the packets lost, counted from 0 as they come. Takes a list of whole numbers, such as
        [10, 11, 40]. If None: as the model needs.
    place : Literal["before-queue", "after-link"]
        Whether a lost packet is gone before the queue, or has used queue and link. Takes one of
        "before-queue", "after-link". By default before-queue.
    mark : bool
        Mark packets whose senders take marks instead of losing them. Takes true or false. By default false.
    """

    model: Literal["bernoulli", "bernoulli-per-byte", "gilbert-elliott", "two-state", "periodic", "list"] | None = None
    probability: float | None = None
    to_bad: float | None = None
    to_good: float | None = None
    bad_loss: float | None = None
    good_loss: float | None = None
    good_length: int | None = None
    bad_length: int | None = None
    unit: Literal["packets", "bytes"] | None = None
    distribution: Literal["exponential", "constant"] | None = None
    ns2_compat: bool | None = None
    period: int | None = None
    offset: int | None = None
    burst: int | None = None
    packets: Sequence[int] | None = None
    place: Literal["before-queue", "after-link"] | None = None
    mark: bool | None = None


@dataclass(kw_only=True)
class Change(Table):
    """A change of a link during the run. What it does not give stays as it is.

    Parameters
    ----------
    at : str
        When, from the start of the run. Takes a time such as "250 ms" or "10 s". Required, unless defaults
        have it.
    rate : str
        The rate from then on, in both directions. Takes a rate above zero, such as "100 Mbit/s". If None:
        as it was.
    rate_backward : str
        The rate from B to A. Takes a rate above zero, such as "100 Mbit/s". If None: as `rate`.
    delay : str
        The delay from then on, in both directions. Takes a time such as "250 ms" or "10 s". If None: as it
        was.
    delay_backward : str
        The delay from B to A. Takes a time such as "250 ms" or "10 s". If None: as `delay`.
    loss : float | Loss
        What it loses from then on, as a link's `loss`. Takes a number from 0 to below 1, or { forward =
        0.01, backward = 0.0 }. If None: as it was.
    """

    at: str | None = None
    rate: str | None = None
    rate_backward: str | None = None
    delay: str | None = None
    delay_backward: str | None = None
    loss: float | Loss | None = None


@dataclass(kw_only=True)
class Draw(Table):
    """A value drawn in each replication, or as often as its key says.

    Parameters
    ----------
    uniform : Sequence[str]
        The two ends of the range; every value between them is equally likely. Takes two times, such as ["0
        s", "20 s"]. Required, unless defaults have it.
    """

    uniform: Sequence[str] | None = None


@dataclass(kw_only=True)
class Session(Table):
    """A multicast session. Its flows are called `NAME@NODE`, or `NAME-1@NODE`, `NAME-2@NODE` where there
    are several at a node.

    Parameters
    ----------
    protocol : str
        The protocol of the source and all receivers. Takes the name of a protocol. Required, unless
        defaults have it.
    source : str
        The node of the source. Takes the name of a node. Required, unless defaults have it.
    receivers : str | Sequence[str]
        The nodes of the receivers. A node that is named twice has two receivers. In a name, `*` stands for
        any characters: all nodes that fit but the source's, in the order of the links. Takes a node such as
        "R1", or a list of nodes. Required, unless defaults have it.
    count : int
        How many receivers there are at each node; with 0 the session is not there. Takes a whole number
        from 0 to 100000. By default 1.
    start : str | Draw
        When the source starts. Takes a time such as "10 s", or a range such as { uniform = ["0 s", "20 s"]
        }. By default 0 s.
    stop : str
        When source and receivers stop. Takes a time such as "250 ms" or "10 s". If None: the end of the
        run.
    receivers_start : str | Draw
        When receivers start. Takes a time such as "10 s", or a range such as { uniform = ["0 s", "20 s"] }.
        If None: with the source.
    layers : Layers
        How the transmission is cut into layers. Takes a table such as { scheme = "doubling", base = "128
        kbit/s", count = 7 }. Required, unless defaults have it.
    packet_size : str
        Data packets on the wire. Takes a size above zero, such as "1000 bytes". By default 1000 bytes.
    join_latency : str | Draw
        The time a router needs for a join, in addition to the delays of the links that the join travels; a
        range is drawn from for each join. Takes a time such as "10 s", or a range such as { uniform = ["0
        s", "20 s"] }. By default 0 s.
    leave_latency : str | Draw
        How long a router keeps forwarding after a leave, in addition to the delays of the links; a range is
        drawn from for each leave. Where an edge has a querier, that decides instead. Takes a time such as
        "10 s", or a range such as { uniform = ["0 s", "20 s"] }. By default 0 s.
    ecn : bool
        Whether queues may mark its data instead of dropping it, as ECT(0) of RFC 3168 allows. Takes true or
        false. By default false.
    packets : int
        How many packets of data the source has; then it ends the session as its protocol does. A receiver
        of a reliable protocol reports their delivery as one transfer. Takes a whole number of at least 1.
        If None: data without end.
    object : str
        An object that the session distributes, such as a file of this length: receivers report when they
        have it. See `docs/objects.md`. Takes a size above zero, such as "700 MB" or "2 GB". If None: data
        without end.
    leave_when_complete : bool
        Whether a receiver leaves as soon as it has the object. Receivers of a reliable protocol stay until
        the protocol ends the session, since others may need them. Takes true or false. By default true.
    routers : Routers
        Which routers take part, if the protocol has routers. Takes a table such as { active = ["A", "B"] }.
        If None: all, without failures.
    relays : Sequence[str]
        The nodes where relays run: the network carries no multicast of this session, and each relay and
        each receiver has its packets by unicast from the nearest relay on its path, or from the source.
        Only the emulated world has them; in the simulated one every router carries multicast. See
        `docs/relays.md`. Takes a list of nodes, such as ["R1", "R2"], or []. If None: no relays: the
        network carries multicast.
    options : Mapping[str, Any]
        Options of the protocol. Takes a table of options, such as { strategy = "lazy" }. If None: the
        protocol's.
    """

    protocol: str | None = None
    source: str | None = None
    receivers: str | Sequence[str] | None = None
    count: int | None = None
    start: str | Draw | None = None
    stop: str | None = None
    receivers_start: str | Draw | None = None
    layers: Layers | None = None
    packet_size: str | None = None
    join_latency: str | Draw | None = None
    leave_latency: str | Draw | None = None
    ecn: bool | None = None
    packets: int | None = None
    object: str | None = None
    leave_when_complete: bool | None = None
    routers: Routers | None = None
    relays: Sequence[str] | None = None
    options: Mapping[str, Any] | None = None


@dataclass(kw_only=True)
class Layers(Table):
    """The cumulative layers of a session. `doubling`, `equal` and `increase-by-one` need `base` and
    `count`; `multiplicative` needs `factor` too, or `above` in place of `count`; `heavy-tail` needs
    `link` and `count`, `explicit` needs `rates`, `fractions` needs `capacities` and `fractions`.

    Parameters
    ----------
    scheme : Literal["doubling", "equal", "increase-by-one", "multiplicative", "heavy-tail", "explicit", "fractions"]
        How the cumulative rate grows: twofold, by the base rate, by one base rate more from layer to layer,
        by a factor; at C/l, ..., C/2, C for a link of rate C; by a table; or at fractions of capacities.
        Takes one of "doubling", "equal", "increase-by-one", "multiplicative", "heavy-tail", "explicit",
        "fractions". Required, unless defaults have it.
    base : str
        The rate of the base layer. Takes a rate above zero, such as "100 Mbit/s". If None: as the scheme
        needs.
    count : int
        The number of layers; with `above`, the maximum, 30 if absent. Takes a whole number from 1 to 1024.
        If None: as the scheme needs.
    factor : float
        By how much the cumulative rate grows. Takes a number above 1. If None: as the scheme needs.
    above : str
        As few layers as it takes for the highest cumulative rate to be above this one. Takes a rate above
        zero, such as "100 Mbit/s". If None: as the scheme needs.
    link : str
        The rate of the link that equal sessions share. Takes a rate above zero, such as "100 Mbit/s". If
        None: as the scheme needs.
    rates : Sequence[str]
        The cumulative rates. Takes a list of rising rates, such as ["128 kbit/s", "256 kbit/s"]. If None:
        as the scheme needs.
    capacities : Sequence[str]
        The capacities that levels are made for. Takes a list of rising rates, such as ["128 kbit/s", "256
        kbit/s"]. If None: as the scheme needs.
    fractions : Sequence[float]
        The levels of each capacity: such as 0.8 and 0.9 to use it, and 1.1 just above it. Takes a list of
        numbers above 0, such as [0.8, 0.9, 1.1]. If None: as the scheme needs.
    phases : Literal["random", "together"]
        When the source's layers begin: each at a random moment within its spacing, or all at one moment, as
        in a script that starts the constant rates of ns-2 at one time. See `docs/readings.md`. Takes one of
        "random", "together". By default random.
    """

    scheme: Literal["doubling", "equal", "increase-by-one", "multiplicative", "heavy-tail", "explicit", "fractions"] | None = None
    base: str | None = None
    count: int | None = None
    factor: float | None = None
    above: str | None = None
    link: str | None = None
    rates: Sequence[str] | None = None
    capacities: Sequence[str] | None = None
    fractions: Sequence[float] | None = None
    phases: Literal["random", "together"] | None = None


@dataclass(kw_only=True)
class Routers(Table):
    """Which nodes of a session's tree take part in its protocol, where the protocol has routers. A node
    with the source or a receiver is a host and has none. All other nodes forward what passes.

    Parameters
    ----------
    active : str | Sequence[str]
        The nodes at which routers take part; `"all"` that can, or `"none"`. Takes "all", "none" or a list
        of nodes, such as ["A", "B"]. By default all.
    fail : str
        When routers fail and forget all that they know. Takes a time such as "250 ms" or "10 s". If None:
        none.
    failing : Sequence[str]
        Those that fail. Takes a list of nodes, such as ["R1", "R2"]. If None: all that take part.
    back : str
        When they take part again; until then their nodes only forward. Takes a time such as "250 ms" or "10
        s". If None: at once.
    """

    active: str | Sequence[str] | None = None
    fail: str | None = None
    failing: Sequence[str] | None = None
    back: str | None = None


@dataclass(kw_only=True)
class Flow(Table):
    """TCP connections, with data without end unless they make transfers or pause, or constant-rate flows;
    or traffic of the library: web pages, video, downloads, calls (`docs/traffic.md`). Their names are
    made as those of sessions.

    Parameters
    ----------
    protocol : Literal["tcp-tahoe", "tcp-reno", "tcp-newreno", "tcp-sack", "tcp-sack-6675", "tcp-vegas", "tcp-cubic", "tcp-bbr", "udp"]
        Which TCP, or `udp`: packets at a constant rate. Calls are `udp` and need not say so. Takes one of
        "tcp-tahoe", "tcp-reno", "tcp-newreno", "tcp-sack", "tcp-sack-6675", "tcp-vegas", "tcp-cubic",
        "tcp-bbr", "udp". Required, unless defaults have it.
    traffic : Literal["web", "video", "download", "call"]
        Traffic of the library: `count` users who read web pages, players of video, or loads of one file
        after another, over the TCP of the table, or so many calls, to each node. It takes the place of
        `size`, `gap`, `arrivals`, `on`, `off` and `rate`. Takes one of "web", "video", "download", "call".
        If None: none.
    from_ : str
        The node of the senders; any node, so flows may go either way. Takes the name of a node. Required,
        unless defaults have it.
    to : str | Sequence[str]
        The nodes of the sinks; `*` as in `receivers`. Takes a node such as "R1", or a list of nodes.
        Required, unless defaults have it.
    count : int
        How many flows go to each node; with 0 there are none of this table. Takes a whole number from 0 to
        100000. By default 1.
    start : str | Draw
        When a flow starts, drawn for each flow. Takes a time such as "10 s", or a range such as { uniform =
        ["0 s", "20 s"] }. By default 0 s.
    stop : str
        When the flows stop. Takes a time such as "250 ms" or "10 s". If None: the end of the run.
    size : str | SizeDistribution
        The flows make transfers of this size, each from a new connection's start; needs `gap` or
        `arrivals`. Takes a size such as "20 kB", or a distribution such as { distribution = "exponential",
        mean = "20 kB" }. If None: data without end.
    gap : str | TimeDistribution
        From the end of a flow's transfer to the start of its next. Takes a time above zero such as "1 s",
        or a distribution such as { distribution = "exponential", mean = "1 s" }. If None: none.
    arrivals : str | TimeDistribution
        From one start of a transfer to the next, on whichever of the flows is free; one that finds none
        waits. An exponential distribution makes a Poisson process. Takes a time above zero such as "1 s",
        or a distribution such as { distribution = "exponential", mean = "1 s" }. If None: none.
    on : str | TimeDistribution
        How long a flow has data before it pauses for `off`. Takes a time above zero such as "1 s", or a
        distribution such as { distribution = "exponential", mean = "1 s" }. If None: always.
    off : str | TimeDistribution
        How long a flow pauses; needs `on`. Takes a time above zero such as "1 s", or a distribution such as
        { distribution = "exponential", mean = "1 s" }. If None: none.
    rate : str
        Of `udp`: the rate while it sends. Takes a rate above zero, such as "100 Mbit/s". If None: needed by
        `udp`.
    profile : Literal["linux", "ns2", "ns2-2004", "ns2-2000"]
        Where the defaults of all others come from: a current Linux host, ns-2 2.35, ns-2 before 18 October
        2004, or ns-2 of 2000. Takes one of linux, ns2, ns2-2004, ns2-2000. By default linux.
    packet_size : str
        Data packets on the wire, headers included. Those of `udp` have 1000 bytes by default. Takes a size
        such as "1000 bytes", above 0 bytes. If None: `1500 bytes` of linux; `1000 bytes` of ns2, ns2-2004,
        ns2-2000.
    ack_size : str
        Packet 0, which plays the SYN, and acknowledgements on the wire; each block of a selective one adds
        8 bytes. Takes a size such as "1000 bytes", above 0 bytes. If None: `52 bytes` of linux; `40 bytes`
        of ns2, ns2-2004, ns2-2000.
    window : int
        The receiver's window in packets. It caps what is in flight, not the congestion window. Takes a
        whole number of at least 1. If None: `1000000` of linux; `20` of ns2, ns2-2000; `10000` of ns2-2004.
    initial_window : int
        The congestion window after packet 0 is acknowledged, in packets. Takes a whole number of at least
        1. If None: `10` of linux; `2` of ns2, ns2-2004; `1` of ns2-2000.
    byte_counting : bool
        Windows grow by the packets that an acknowledgement covers, not by one for each acknowledgement (RFC
        3465, without its limit before the first timeout, as in Linux). Takes true or false. If None: `true`
        of linux; `false` of ns2, ns2-2004, ns2-2000.
    hystart : bool
        Whether CUBIC leaves its first slow start when the round-trip time rises (HyStart++, RFC 9406).
        Other variants have no use for it. Takes true or false. If None: `true` of linux; `false` of ns2,
        ns2-2004, ns2-2000.
    prr : bool
        Whether recovery with a pipe read off the board sends in proportion to what arrives (PRR, RFC 9937):
        `tcp-sack-6675` and `tcp-cubic`. Takes true or false. If None: `true` of linux; `false` of ns2,
        ns2-2004, ns2-2000.
    min_rto : str
        The smallest retransmission timeout, before back-off; never less than two ticks. With `linux` it is
        the least that is added to the smoothed round-trip time, as in that kernel. Takes a length of time
        such as "250 ms". If None: `200 ms` of linux, ns2; `1 s` of ns2-2004; `0 s` of ns2-2000.
    max_rto : str
        The largest retransmission timeout. Takes a length of time such as "250 ms", above 0 s. If None:
        `120 s` of linux; `60 s` of ns2, ns2-2004, ns2-2000.
    initial_rto : str
        The retransmission timeout before the first measurement. Takes a length of time such as "250 ms",
        above 0 s. If None: `1 s` of linux; `3 s` of ns2; `6 s` of ns2-2004, ns2-2000.
    tick : str
        The granularity of the retransmission timer and of the measured round-trip time. Takes a length of
        time such as "250 ms", above 0 s. If None: `1 ms` of linux; `10 ms` of ns2, ns2-2004; `100 ms` of
        ns2-2000.
    delayed_ack : bool
        Acknowledge every second packet only, or after `ack_delay`. Takes true or false. If None: `true` of
        linux; `false` of ns2, ns2-2004, ns2-2000.
    ack_delay : str
        How long the sink delays acknowledgements at most. Takes a length of time such as "250 ms", above 0
        s. If None: `40 ms` of linux; `100 ms` of ns2, ns2-2004, ns2-2000.
    quick_acks : int
        So many packets at the start of a connection are acknowledged at once, though acknowledgements are
        delayed. Takes a whole number. If None: `16` of linux; `0` of ns2, ns2-2004, ns2-2000.
    limited_transmit : bool
        Whether the first two duplicate acknowledgements each release a new packet (RFC 3042). Takes true or
        false. If None: `true` of linux, ns2, ns2-2004; `false` of ns2-2000.
    overhead : str
        Senders wait for a random time below this before they use their window. A packet's time on the
        bottleneck breaks the rhythm of equal flows; automatic is that of the slowest link of each flow's
        path. Takes "automatic" or a length of time such as "250 ms". If None: `1 ms` of linux; `0 s` of
        ns2, ns2-2004, ns2-2000.
    max_burst : int
        At most so many packets answer one acknowledgement; 0 for no limit. Takes a whole number. By default
        0.
    ecn : bool
        Whether data asks queues for marks in place of drops, and senders answer them (RFC 3168). Takes true
        or false. By default false.
    page : str
        Of `web`: the median weight of a page with all that it embeds, in bytes on the wire; weights are
        log-normal. 2412 KB: the median desktop page of July 2025 (HTTP Archive, Web Almanac 2025, chapter
        Page Weight). Takes a size such as "1000 bytes", above 0 bytes. By default 2470000 bytes.
    page_sigma : float
        Of `web`: the standard deviation of the natural logarithm of the weight; with 1.04 one page in ten
        weighs 9179 KB or more, as in that chapter. Takes a number from 0 to 3. By default 1.04.
    document : str
        Of `web`: the median weight of the document, in bytes on the wire; weights are log-normal. 22 KB:
        the median HTML of a desktop page (same chapter). Takes a size such as "1000 bytes", above 0 bytes.
        By default 22500 bytes.
    document_sigma : float
        Of `web`: the standard deviation of the natural logarithm of the document's weight; with 0.77 one in
        ten weighs 59 KB or more, as HTML responses do (same chapter). Takes a number from 0 to 3. By
        default 0.77.
    parse : str
        Of `web`: the mean time from the end of the document to the requests for what it embeds; times are
        exponential. 0.13 s: IEEE 802.16m-08/004r5, section 10.1, after the model of 3GPP2. Takes a length
        of time such as "250 ms". By default 130 ms.
    reading : str
        Of `web`: the mean time from the end of a page to the request for the next; times are exponential. A
        user begins with such a time. 30 s: IEEE 802.16m-08/004r5, section 10.1. Of `download`: the mean
        time from the end of a file to the request for the next; times are exponential. 5 s: the same model.
        Takes a length of time such as "250 ms", at least 1 ms. If None: `30 s` of web; `5 s` of download.
    handshake : str
        Of `web`: what the server sends on a new connection before it can answer, which takes a round trip
        more: its part of the TLS 1.3 handshake with its certificates (RFC 8446, section 2). 4 kB are our
        own assumption; 0 bytes for none. Takes a size such as "1000 bytes". By default 4000 bytes.
    new_connections : bool
        Of `web`: whether each page opens a connection of its own. Otherwise a user keeps one, as HTTP/2
        does within a site (RFC 9113, section 9.1). Takes true or false. By default false.
    segment : str
        Of `video`: how long a segment plays. 4 s: Huang and others, SIGCOMM 2014, section 3. Takes a length
        of time such as "250 ms", from 100 ms to 60 s. By default 4 s.
    ladder : str
        Of `video`: the bit rates of the video, without headers. The default is that of Apple's HLS
        Authoring Specification for H.264. Takes rising rates from 1 kbit/s to 1 Gbit/s in a text, such as
        "145 kbit/s, 365 kbit/s, 1.1 Mbit/s". By default 145 kbit/s, 365 kbit/s, 730 kbit/s, 1.1 Mbit/s, 2
        Mbit/s, 3 Mbit/s, 4.5 Mbit/s, 6 Mbit/s, 7.8 Mbit/s.
    buffer : str
        Of `video`: the most that a player buffers; when there is no room for a segment it waits. 240 s:
        Huang and others, SIGCOMM 2014, section 3. Takes a length of time such as "250 ms", from 100 ms to
        3600 s. By default 240 s.
    reservoir : str
        Of `video`: with less than this in the buffer the lowest rate is chosen (BBA-0). 90 s: the same
        paper, section 4. Takes a length of time such as "250 ms", from 0 s to 3600 s. By default 90 s.
    cushion : str
        Of `video`: over how much more in the buffer the rate rises to the highest (BBA-0). 126 s: the same
        paper, section 4. Takes a length of time such as "250 ms", from 100 ms to 3600 s. By default 126 s.
    startup : str
        Of `video`: playing begins with this much in the buffer, and goes on with it after a stall: one
        segment by default, which is our own assumption. Takes a length of time such as "250 ms", from 1 ms
        to 3600 s. By default 4 s.
    file : str
        Of `download`: the size of a file in bytes on the wire, or the median where `file_sigma` is above 0.
        0.5 MB: 3GPP TR 36.814, section A.2.1.3.1, FTP traffic model 2. Takes a size such as "1000 bytes",
        above 0 bytes. By default 500000 bytes.
    file_sigma : float
        Of `download`: the standard deviation of the natural logarithm of the size; above 0 sizes are
        log-normal. Takes a number from 0 to 3. By default 0.
    payload : str
        Of `call`: the voice in a packet. 160 bytes: G.711, of which 64 kbit/s make 20 ms (RFC 3551, section
        4.5.14). RTP, UDP and IP add 40 bytes. Takes a size such as "1000 bytes", above 0 bytes and up to
        1460 bytes. By default 160 bytes.
    interval : str
        Of `call`: from one packet to the next. 20 ms: RFC 3551, section 4.2. Takes a length of time such as
        "250 ms", from 1 ms to 1 s. By default 20 ms.
    talkspurts : bool
        Of `call`: whether packets are sent in talkspurts only (silence suppression). Takes true or false.
        By default false.
    talk : str
        Of `call`: the mean length of a talkspurt; lengths are exponential. 1.004 s: ITU-T P.59, table 1.
        Takes a length of time such as "250 ms", at least 1 ms. By default 1.004 s.
    silence : str
        Of `call`: the mean length of a silence between talkspurts; lengths are exponential. 1.587 s: ITU-T
        P.59, table 1. Takes a length of time such as "250 ms", at least 1 ms. By default 1.587 s.
    """

    protocol: Literal["tcp-tahoe", "tcp-reno", "tcp-newreno", "tcp-sack", "tcp-sack-6675", "tcp-vegas", "tcp-cubic", "tcp-bbr", "udp"] | None = None
    traffic: Literal["web", "video", "download", "call"] | None = None
    from_: str | None = None
    to: str | Sequence[str] | None = None
    count: int | None = None
    start: str | Draw | None = None
    stop: str | None = None
    size: str | SizeDistribution | None = None
    gap: str | TimeDistribution | None = None
    arrivals: str | TimeDistribution | None = None
    on: str | TimeDistribution | None = None
    off: str | TimeDistribution | None = None
    rate: str | None = None
    profile: Literal["linux", "ns2", "ns2-2004", "ns2-2000"] | None = None
    packet_size: str | None = None
    ack_size: str | None = None
    window: int | None = None
    initial_window: int | None = None
    byte_counting: bool | None = None
    hystart: bool | None = None
    prr: bool | None = None
    min_rto: str | None = None
    max_rto: str | None = None
    initial_rto: str | None = None
    tick: str | None = None
    delayed_ack: bool | None = None
    ack_delay: str | None = None
    quick_acks: int | None = None
    limited_transmit: bool | None = None
    overhead: str | None = None
    max_burst: int | None = None
    ecn: bool | None = None
    page: str | None = None
    page_sigma: float | None = None
    document: str | None = None
    document_sigma: float | None = None
    parse: str | None = None
    reading: str | None = None
    handshake: str | None = None
    new_connections: bool | None = None
    segment: str | None = None
    ladder: str | None = None
    buffer: str | None = None
    reservoir: str | None = None
    cushion: str | None = None
    startup: str | None = None
    file: str | None = None
    file_sigma: float | None = None
    payload: str | None = None
    interval: str | None = None
    talkspurts: bool | None = None
    talk: str | None = None
    silence: str | None = None


@dataclass(kw_only=True)
class NetworkEdge(Table):
    """The edge router at a node, between the network and the receivers there, which are hosts on one local
    network. What it does: `docs/membership.md`.

    Parameters
    ----------
    querier : Literal["none", "igmpv2", "igmpv3", "mldv1", "mldv2"]
        Which protocol it speaks with its hosts. With `none` it forwards for a session's `leave_latency`
        after the last leave; any other has a time of its own. Takes one of "none", "igmpv2", "igmpv3",
        "mldv1", "mldv2". By default none.
    leave : Literal["check", "tracked", "fast"]
        What a leave does: ask whether others are there; ask only when the last known host leaves; prune at
        once when the last known host leaves. The last two need `igmpv3` or `mldv2`. Takes one of "check",
        "tracked", "fast". By default check.
    last_member_interval : str
        From one query of a check to the next, and the longest wait of an answer. Takes a time above zero,
        such as "1 s". If None: the querier's.
    last_member_count : int
        How many queries a check has. Takes a whole number from 1 to 255. If None: the querier's.
    processing : str
        Of `fast`: what the router needs for a leave. Takes a time such as "250 ms" or "10 s". By default 10
        ms.
    report_loss : float
        The probability that a report or an answer is lost. Takes a number from 0 to 1. By default 0.
    leave_loss : float
        The probability that a leave is lost. Takes a number from 0 to 1. By default 0.
    report_repeat : str
        After what time a host repeats the report of a join; 10 s with `none`. Takes a time above zero, such
        as "1 s". If None: the querier's.
    robustness : int
        How often a host reports a join, and how many general queries may go unanswered. Takes a whole
        number from 1 to 255. By default 2.
    query_interval : str
        From one general query to the next. Takes a time above zero, such as "1 s". By default 125 s.
    query_response : str
        The longest wait of an answer to a general query. Takes a time such as "250 ms" or "10 s". By
        default 10 s.
    group_limit : int
        How many channels of all sessions together it keeps; it refuses further joins. Takes a whole number
        of at least 1. If None: none.
    crash : str
        When all hosts at the node crash: they fall silent and leave nothing. Takes a time such as "250 ms"
        or "10 s". If None: none.
    """

    querier: Literal["none", "igmpv2", "igmpv3", "mldv1", "mldv2"] | None = None
    leave: Literal["check", "tracked", "fast"] | None = None
    last_member_interval: str | None = None
    last_member_count: int | None = None
    processing: str | None = None
    report_loss: float | None = None
    leave_loss: float | None = None
    report_repeat: str | None = None
    robustness: int | None = None
    query_interval: str | None = None
    query_response: str | None = None
    group_limit: int | None = None
    crash: str | None = None


@dataclass(kw_only=True)
class SizeDistribution(Table):
    """A distribution that sizes are drawn from.

    Parameters
    ----------
    distribution : Literal["uniform", "exponential", "pareto", "log-normal", "weibull"]
        `exponential` needs `mean`; `pareto` and `weibull` `mean` and `shape`; `log-normal` `mean` and
        `sigma`; `uniform` `low` and `high`. Takes one of "uniform", "exponential", "pareto", "log-normal",
        "weibull". Required, unless defaults have it.
    mean : str
        The mean. Takes a size above zero, such as "1000 bytes". If None: as the distribution needs.
    shape : float
        Of `pareto`, above 1: the power of the tail, up to 2 with infinite variance. Of `weibull`: 1 is
        exponential, less has a heavier tail. Takes a number above 0. If None: as the distribution needs.
    sigma : float
        Of `log-normal`: the standard deviation of the natural logarithm. Takes a number above 0. If None:
        as the distribution needs.
    low : str
        Of `uniform`: the smallest. Takes a size above zero, such as "1000 bytes". If None: none.
    high : str
        Of `uniform`: the largest. Takes a size above zero, such as "1000 bytes". If None: none.
    """

    distribution: Literal["uniform", "exponential", "pareto", "log-normal", "weibull"] | None = None
    mean: str | None = None
    shape: float | None = None
    sigma: float | None = None
    low: str | None = None
    high: str | None = None


@dataclass(kw_only=True)
class TimeDistribution(Table):
    """A distribution that times are drawn from.

    Parameters
    ----------
    distribution : Literal["uniform", "exponential", "pareto", "log-normal", "weibull"]
        `exponential` needs `mean`; `pareto` and `weibull` `mean` and `shape`; `log-normal` `mean` and
        `sigma`; `uniform` `low` and `high`. Takes one of "uniform", "exponential", "pareto", "log-normal",
        "weibull". Required, unless defaults have it.
    mean : str
        The mean. Takes a time above zero, such as "1 s". If None: as the distribution needs.
    shape : float
        Of `pareto`, above 1: the power of the tail, up to 2 with infinite variance. Of `weibull`: 1 is
        exponential, less has a heavier tail. Takes a number above 0. If None: as the distribution needs.
    sigma : float
        Of `log-normal`: the standard deviation of the natural logarithm. Takes a number above 0. If None:
        as the distribution needs.
    low : str
        Of `uniform`: the smallest. Takes a time such as "250 ms" or "10 s". If None: none.
    high : str
        Of `uniform`: the largest. Takes a time above zero, such as "1 s". If None: none.
    """

    distribution: Literal["uniform", "exponential", "pareto", "log-normal", "weibull"] | None = None
    mean: str | None = None
    shape: float | None = None
    sigma: float | None = None
    low: str | None = None
    high: str | None = None


@dataclass(kw_only=True)
class Paper(Table):
    """What the paper reports of a flow (`elm@R1`) or group (`R1/elm`). `"about 430"`, `"< 10"` and `">
    300"` say how exactly it does.

    Parameters
    ----------
    throughput_kbps : float | str
        Mean throughput of a flow in kbit/s. Takes a number, or text such as "about 430", "< 10" or "> 300".
        If None: none.
    loss_rate : float | str
        Lost over sent, of a flow. Takes a number, or text such as "about 430", "< 10" or "> 300". If None:
        none.
    level_changes : float | str
        Joins and leaves of a receiver. Takes a number, or text such as "about 430", "< 10" or "> 300". If
        None: none.
    mean_level : float | str
        The mean level of a receiver. Takes a number, or text such as "about 430", "< 10" or "> 300". If
        None: none.
    settled_after_s : float | str
        When a receiver's level came to rest, in seconds. Takes a number, or text such as "about 430", "<
        10" or "> 300". If None: none.
    jain_index : float | str
        Jain's index of a group. Takes a number, or text such as "about 430", "< 10" or "> 300". If None:
        none.
    """

    throughput_kbps: float | str | None = None
    loss_rate: float | str | None = None
    level_changes: float | str | None = None
    mean_level: float | str | None = None
    settled_after_s: float | str | None = None
    jain_index: float | str | None = None


@dataclass(kw_only=True)
class Probe(Table):
    """Values over time: `probes.parquet` has them and the report plots them. A link has `queue_packets`,
    `queue_bytes`, `queue_average` (RED's), `sent_kbps`, `drops` and `marks`; a TCP connection
    `throughput_kbps`, `cwnd_packets`, `ssthresh_packets` and `flight_packets`; a constant-rate flow
    `throughput_kbps`; a receiver `throughput_kbps`, `level`, `rate_kbps`, `smoothed_rate_kbps`, `loss`
    and `rtt_ms`, and the gauges of its protocol (`layercast list PROTOCOL`), those of its source with
    `source_` in front; what gauges count is kept as the increase since the last look.

    Parameters
    ----------
    of : str
        A link in the direction of its name, or a flow. Takes a link or a flow, such as "link G1-G2" or
        "flow elm@R1". Required, unless defaults have it.
    what : Sequence[str]
        What is kept. Takes a list of quantities, such as ["queue_packets", "queue_bytes"]. Required, unless
        defaults have it.
    every : str
        How often. Rates of links and flows and counts are over such a stretch, all else is as it is at its
        end. Takes a time above zero, such as "1 s". By default 100 ms.
    """

    of: str | None = None
    what: Sequence[str] | None = None
    every: str | None = None


@dataclass(kw_only=True)
class Scenario(Table):
    """The top of the file.

    Parameters
    ----------
    name : str
        What the experiment is called in tables and reports. Takes text that is not empty. Required, unless
        defaults have it.
    description : str
        What it shows. Takes text that is not empty. If None: none.
    duration : str
        How long one replication lasts. Takes a time above zero, such as "1 s". Required, unless defaults
        have it.
    replications : int
        How many times it is run, each time with random streams of its own. Takes a whole number of at least
        1. By default 1.
    seed : int
        Where all random streams come from. Takes a whole number, not negative. By default 1.
    windows : Sequence[Sequence[str]]
        Over which stretches of the run flows are measured; the first is the main one. `"end"` is the end of
        the run. Takes a list such as [["30 s", "end"], ["10 s", "300 s"]]. If None: the whole run.
    series_bin : str
        The bin of the time series. Takes a time above zero, such as "1 s". By default 1 s.
    defaults : Defaults
        What holds for all links, sessions, flows, edges. Takes a table such as { link = { rate = "100
        Mbit/s" } }. If None: none.
    topology : Topology
        Links from a file. Takes a table such as { graphml = "net.graphml" }. If None: none.
    links : Mapping[str, Link]
        The links, `A-B = {}`. The nodes are the ends of the links; their names are letters, digits, `_`,
        `.` and `-`. Where a name has a dash in it, the link gives `from` and `to`. Takes tables under
        names, each such as { rate = "100 Mbit/s", delay = "10 ms" }. Required, unless defaults have it.
    sessions : Mapping[str, Session]
        The multicast sessions, under their names. Takes tables under names, each such as { protocol =
        "elm", source = "S", receivers = ["R1"] }. If None: none.
    flows : Mapping[str, Flow]
        The unicast flows, under their names. Takes tables under names, each such as { protocol =
        "tcp-sack", from = "S", to = "R1" }. If None: none.
    edges : Mapping[str, NetworkEdge]
        The edge routers, under the names of their nodes. Without one, hosts are known one by one, and
        nothing is lost between them and the network. Takes tables under names, each such as { querier =
        "igmpv3", leave = "fast" }. If None: none.
    groups : Mapping[str, Sequence[str]]
        Groups of flows whose Jain index is reported. A name may contain `*`, which stands for any
        characters. Takes lists of flows under names, such as "R1/elm" = ["elm@R1", "tcp-*@R1"]. If None:
        none.
    paper : Mapping[str, Paper]
        The numbers that the paper reports, under the name of a flow or group. Takes tables under names,
        each such as { throughput_kbps = 783, level_changes = "about 12" }. If None: none.
    probes : Mapping[str, Probe]
        What is kept over time at an interval of its own, under names. Probes change no result. Takes tables
        under names, each such as { of = "link G1-G2", what = ["queue_packets"], every = "10 ms" }. If None:
        none.
    for_ : Sequence[For]
        Templates, each under `[[for]]`: tables that are made for each row of a list, a range or a file.
        Takes a list such as [{ each = { site = "01..30" }, links."CORE-SITE{site}" = { rate = "10 Mbit/s" }
        }]. If None: none.
    """

    name: str | None = None
    description: str | None = None
    duration: str | None = None
    replications: int | None = None
    seed: int | None = None
    windows: Sequence[Sequence[str]] | None = None
    series_bin: str | None = None
    defaults: Defaults | None = None
    topology: Topology | None = None
    links: Mapping[str, Link] | None = None
    sessions: Mapping[str, Session] | None = None
    flows: Mapping[str, Flow] | None = None
    edges: Mapping[str, NetworkEdge] | None = None
    groups: Mapping[str, Sequence[str]] | None = None
    paper: Mapping[str, Paper] | None = None
    probes: Mapping[str, Probe] | None = None
    for_: Sequence[For] | None = None

    def to_toml(self) -> str:
        """The text of the scenario file.

        Returns
        -------
        str
            TOML, as `layercast run FILE` takes it.
        """
        return tomli_w.dumps(self.to_dict())

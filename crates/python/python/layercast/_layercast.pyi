"""
The native part of the package `layercast`.
"""

from _typeshed import Incomplete, SupportsGetItem
from os import PathLike
from pathlib import Path
from typing import Any, Final, SupportsFloat, SupportsIndex, final
from typing_extensions import disjoint_base

__all__ = ["BUILD", "VERSION", "Axis", "Compared", "EndpointBase", "LayerClocks", "Mistake", "OptionInfo", "Packet", "ProtocolInfo", "Ran", "Random", "ReceiveProgress", "Received", "SendProgress", "Sent", "StreamLayerReceived", "StreamLayerSent", "StreamReceiveProgress", "StreamReceived", "StreamSendProgress", "StreamSent", "Sweep", "Swept", "Table", "Transfer", "TransferEvent", "Wakes", "check", "check_protocol", "colours", "compare", "defined", "expand", "half_interval", "load", "options", "protocols", "register", "run", "run_task", "scenarios", "start_receive", "start_send", "start_stream_receive", "start_stream_send", "unregister"]

BUILD: Final[str]
"""
What distinguishes this build from others.
"""

VERSION: Final[str]
"""
The version.
"""

@final
class Axis:
    """
    A key of a sweep and its values.
    """
    @property
    def key(self, /) -> str:
        """
        The key, as it was given.
        """
    @property
    def numbers(self, /) -> list[float] | None:
        """
        The values as numbers, if all are.
        """
    @property
    def unit(self, /) -> str:
        """
        The unit of the numbers; empty for plain ones.
        """
    @property
    def values(self, /) -> list[str]:
        """
        The values as text.
        """

@final
class Compared:
    """
    The results of a comparison.
    """
    def claims(self, /) -> Table:
        """
        A row for each candidate and number of the paper.
        """
    def flows(self, /) -> Table:
        """
        A row for each candidate, replication, window and flow.
        """
    def groups(self, /) -> Table:
        """
        A row for each candidate, replication, window and group.
        """
    def links(self, /) -> Table:
        """
        A row for each candidate, replication, window and link.
        """
    def series(self, /) -> Table:
        """
        A row for each candidate, replication, flow and bin.
        """
    @property
    def stopped(self, /) -> bool:
        """
        Whether Ctrl-C ended it before all protocols had run.
        """
    def summary(self, /) -> str:
        """
        The text of `compare.json`.
        """
    def text(self, /, width: SupportsIndex | None = None) -> str:
        """
        The command's table, so many columns wide.
        """
    @property
    def warnings(self, /) -> str:
        """
        What makes the results of some protocols doubtful, in the command's words; empty if nothing does.
        """
    def write(self, /, path: str | PathLike[str]) -> None:
        """
        Writes the files of `layercast compare --out`.
        """

@disjoint_base
class EndpointBase:
    """
    State that the host reads and the Python class changes.
    """
    def __deepcopy__(self, /, memo: "dict[int, Any]") -> "Any":
        """
        A twin in the same state, whose objects are copies.
        """
    def __new__(cls, /) -> EndpointBase: ...
    def cancel_timer(self, /, name: str | None = None) -> None:
        """
        Takes a timer back, if it is set.
        """
    def end(self, /) -> None:
        """
        The endpoint is done: no timers, and nothing it is given from now on reaches it. A receiver leaves all
        channels.
        """
    def estimate(self, /, *, rate: SupportsFloat | SupportsIndex | None = None, smoothed_rate: SupportsFloat | SupportsIndex | None = None, loss: SupportsFloat | SupportsIndex | None = None, rtt: SupportsIndex | None = None) -> None:
        """
        What probes and results record as estimates: fair rate and smoothed rate in bit/s, loss as a fraction,
        round-trip time in nanoseconds. What is not given stays as it is.
        """
    @property
    def held(self, /) -> list[int]:
        """
        The channels that are held.
        """
    def join(self, /, channel: SupportsIndex, cause: str | None = None) -> None:
        """
        Joins a channel that is not held.
        """
    @property
    def layer_rates(self, /) -> list[float]:
        """
        The rate of each layer alone in bit/s, lowest first.
        """
    @property
    def layers(self, /) -> int:
        """
        The number of layers.
        """
    def leave(self, /, channel: SupportsIndex, cause: str | None = None) -> None:
        """
        Leaves a channel that is held.
        """
    @property
    def level(self, /) -> int:
        """
        The highest layer that is held with all below it; -1 for none.
        """
    @property
    def level_rates(self, /) -> list[float]:
        """
        The rate of each level in bit/s: that of its layers together.
        """
    @property
    def now(self, /) -> int:
        """
        The time of the input that is being handled, in nanoseconds.
        """
    @property
    def options(self, /) -> Any:
        """
        The options of the protocol, an object of its dataclass.
        """
    @property
    def packet_size(self, /) -> int:
        """
        The size of the session's packets in bytes.
        """
    @property
    def random(self, /) -> Random:
        """
        The random numbers of this endpoint.
        """
    def send(self, /, channel: SupportsIndex, header: Any, size: SupportsIndex | None = None, payload: bool = True) -> None:
        """
        Sends a packet to all that hold a channel. `payload` says whether it has the application's data.
        """
    def send_report(self, /, header: Any, size: SupportsIndex = ...) -> None:
        """
        Sends a report to the source.
        """
    def send_to(self, /, peer: SupportsIndex, header: Any, size: SupportsIndex = ...) -> None:
        """
        Sends a packet to one member that this source has heard from.
        """
    def set_level(self, /, level: SupportsIndex, cause: str | None = None) -> None:
        """
        Joins from below, or leaves from the top, until the layers up to `level` are held; -1 for none. Channels
        above the layers stay as they are.
        """
    def set_timer(self, /, at: SupportsIndex, name: str | None = None) -> None:
        """
        Calls `on_timer` at this time, which must lie after now; a timer of that name is moved.
        """
    def timer(self, /, name: str | None = None) -> int | None:
        """
        When a timer is due, in nanoseconds; None if it is not set.
        """
    def trace_loss(self, /, layer: SupportsIndex, seq: SupportsIndex) -> None:
        """
        Says that a loss event began with this packet of a layer.
        """

@final
class LayerClocks:
    """
    The departures of a source that sends every layer at its constant rate, each at a phase of its own: those of the
    built-in protocols with static layers.
    """
    def __deepcopy__(self, /, memo: Any) -> LayerClocks: ...
    def __new__(cls, /, source: EndpointBase, dither: SupportsFloat | SupportsIndex = 0.0) -> LayerClocks:
        """
        Clocks for the session of a source, which draw from its random numbers. Packets leave up to the part `dither`
        of their spacing later than planned.
        """
    def begin(self, /, now: SupportsIndex, base_at_once: bool = False) -> None:
        """
        Begins all layers; with `base_at_once` the base layer without a random phase.
        """
    def demand(self, /, now: SupportsIndex, level: SupportsIndex) -> None:
        """
        Sends only layers up to this one from now on.
        """
    @property
    def next(self, /) -> int | None:
        """
        When the next packet is due, in nanoseconds; None while nothing is sent.
        """
    def pause(self, /) -> None:
        """
        There is nothing to send for now.
        """
    def resume(self, /, now: SupportsIndex) -> None:
        """
        There is something to send again.
        """
    def stop(self, /) -> None:
        """
        Ends all layers.
        """
    def take_due(self, /, now: SupportsIndex) -> tuple[int, int] | None:
        """
        The next packet that is due: its layer and its number there; None if none is.
        """

@final
class Mistake:
    """
    One mistake in a scenario or a setting.
    """
    def __repr__(self, /) -> str: ...
    @property
    def allowed(self, /) -> str | None:
        """
        What is allowed.
        """
    @property
    def column(self, /) -> int:
        """
        The column in characters, from 1.
        """
    @property
    def line(self, /) -> int:
        """
        The line, from 1.
        """
    @property
    def message(self, /) -> str:
        """
        What is wrong.
        """
    @property
    def nearest(self, /) -> str | None:
        """
        The known name most like the one given.
        """
    @property
    def origin(self, /) -> str:
        """
        The scenario's name or file, or the setting.
        """
    @property
    def path(self, /) -> str:
        """
        The dotted path of the key; empty if the text is not TOML.
        """
    @property
    def value(self, /) -> str | None:
        """
        The value as it is written, if a value is wrong.
        """

@final
class OptionInfo:
    """
    An option of a protocol, a TCP, a queue or traffic.
    """
    def __repr__(self, /) -> str: ...
    @property
    def default(self, /) -> str:
        """
        The default, as it would be written.
        """
    @property
    def doc(self, /) -> str:
        """
        What it means and where it comes from.
        """
    @property
    def name(self, /) -> str:
        """
        The key in scenarios.
        """
    @property
    def profile(self, /) -> str | None:
        """
        The profile whose default this is, if there are several.
        """
    @property
    def takes(self, /) -> str:
        """
        What it takes.
        """

@final
class Packet:
    """
    A packet that arrived.
    """
    @property
    def channel(self, /) -> int | None:
        """
        The channel on which it came; None for a packet from one member alone.
        """
    @property
    def header(self, /) -> Any:
        """
        Its header.
        """
    @property
    def marked(self, /) -> bool:
        """
        Whether a router marked it (ECN).
        """
    @property
    def peer(self, /) -> int | None:
        """
        The member that sent it to this endpoint alone; None for a packet of a channel.
        """
    @property
    def size(self, /) -> int:
        """
        Its size on the wire in bytes.
        """

@final
class ProtocolInfo:
    """
    A multicast protocol.
    """
    def __repr__(self, /) -> str: ...
    @property
    def ecn(self, /) -> bool:
        """
        Whether congestion marks count.
        """
    @property
    def layered(self, /) -> bool:
        """
        Whether receivers choose between layers; otherwise all have one rate.
        """
    @property
    def most_receivers(self, /) -> int | None:
        """
        How many receivers a session may have; None for any number.
        """
    @property
    def name(self, /) -> str:
        """
        Its name in scenarios.
        """
    @property
    def reliable(self, /) -> bool:
        """
        Whether it delivers all data, in order.
        """
    @property
    def routers(self, /) -> bool:
        """
        Whether routers take part.
        """
    @property
    def start(self, /) -> str:
        """
        How the rate of a new receiver rises; empty if that is not stated.
        """

@final
class Ran:
    """
    The results of a run.
    """
    def claims(self, /) -> Table:
        """
        A row for each number of the paper.
        """
    def flows(self, /) -> Table:
        """
        A row for each replication, window and flow.
        """
    def groups(self, /) -> Table:
        """
        A row for each replication, window and group.
        """
    def level_rates(self, /, flow: str) -> list[float]:
        """
        The cumulative rates of the layers of a flow's session in kbit/s, lowest first.
        """
    def links(self, /) -> Table:
        """
        A row for each replication, window and link.
        """
    def probes(self, /) -> Table:
        """
        A row for each replication, probe, quantity and sample.
        """
    def report(self, /) -> str:
        """
        The report's page.
        """
    def series(self, /) -> Table:
        """
        A row for each replication, flow and bin.
        """
    @property
    def stopped(self, /) -> bool:
        """
        Whether Ctrl-C ended it before all replications were done.
        """
    def summary(self, /) -> str:
        """
        The text of `summary.json`.
        """
    def text(self, /) -> str:
        """
        The command's table.
        """
    @property
    def warnings(self, /) -> str:
        """
        What makes the results doubtful, in the command's words; empty if nothing does.
        """
    def write(self, /, path: str | PathLike[str]) -> None:
        """
        Writes the files of `layercast run --out`.
        """

@final
class Random:
    """
    The random numbers of one endpoint: the same for the same seed and the same name of the component, on every
    machine and in every version of Python.
    """
    def __deepcopy__(self, /, _memo: Any) -> Random: ...
    def __new__(cls, /, seed: SupportsIndex, name: str = "random") -> Random:
        """
        A stream of its own, for tests of code that takes one.
        """
    def bits(self, /) -> int:
        """
        64 random bits.
        """
    def branch(self, /, name: str) -> Random:
        """
        A stream for a part, which follows from the state of this one and leaves it as it is.
        """
    def chance(self, /, probability: SupportsFloat | SupportsIndex) -> bool:
        """
        True with this probability.
        """
    def choice(self, /, items: Any) -> Any:
        """
        One of the items.
        """
    def exponential(self, /, mean: SupportsFloat | SupportsIndex) -> float:
        """
        Exponentially distributed with this mean.
        """
    def integers(self, /, low: SupportsIndex, high: SupportsIndex) -> int:
        """
        A whole number, uniform from `low` to `high - 1`.
        """
    def normal(self, /, mean: SupportsFloat | SupportsIndex = 0.0, deviation: SupportsFloat | SupportsIndex = 1.0) -> float:
        """
        Normally distributed (Marsaglia's polar method).
        """
    def random(self, /) -> float:
        """
        Uniform in [0, 1).
        """
    def shuffle(self, /, items: "list[Any]") -> "None":
        """
        Puts the items of a list in random order.
        """
    def uniform(self, /, low: SupportsFloat | SupportsIndex, high: SupportsFloat | SupportsIndex) -> float:
        """
        Uniform in [low, high).
        """

@final
class ReceiveProgress:
    """
    How far a reception is.
    """
    @property
    def elapsed_s(self, /) -> float:
        """
        Seconds since the start.
        """
    @property
    def goodput_bps(self, /) -> float:
        """
        Bits of the files per second over the last interval.
        """
    @property
    def level(self, /) -> int:
        """
        The level of the receiver: of 0 it holds the base layer alone; -1 before.
        """
    @property
    def objects(self, /) -> int:
        """
        Files and empty folders of the session that are known.
        """
    @property
    def objects_bytes(self, /) -> int:
        """
        The bytes of all.
        """
    @property
    def objects_complete(self, /) -> int:
        """
        Those in their place.
        """
    @property
    def objects_failed(self, /) -> int:
        """
        Those that cannot be received.
        """
    @property
    def packets_lost(self, /) -> float | None:
        """
        The share of packets that were lost over the last seconds; None before the first packet.
        """
    @property
    def rtt_ms(self, /) -> float | None:
        """
        The round-trip time in milliseconds, where the congestion control measures it.
        """
    @property
    def symbols_held(self, /) -> int:
        """
        How many of these are here.
        """
    @property
    def symbols_needed(self, /) -> int:
        """
        The least number of symbols that they need.
        """

@final
class Received:
    """
    What was received.
    """
    @property
    def folder(self, /) -> str:
        """
        The folder of the files.
        """
    @property
    def path(self, /) -> str | None:
        """
        The path of the file, if the session had one alone.
        """
    @property
    def progress(self, /) -> ReceiveProgress:
        """
        The progress at the end.
        """

@final
class SendProgress:
    """
    How far a transmission is.
    """
    @property
    def bytes(self, /) -> int:
        """
        Their bytes with all headers.
        """
    @property
    def elapsed_s(self, /) -> float:
        """
        Seconds since the start.
        """
    @property
    def packets(self, /) -> int:
        """
        Packets sent.
        """
    @property
    def receivers_complete(self, /) -> int:
        """
        How many receivers have said that they are complete.
        """
    @property
    def rounds(self, /) -> float:
        """
        Symbols sent for each that the files have.
        """

@final
class Sent:
    """
    What was sent, and who has it.
    """
    @property
    def completed(self, /) -> list[str]:
        """
        The addresses of the receivers that have said that they are complete, in the order of their reports.
        """
    @property
    def files_left_out(self, /) -> int:
        """
        How many files were left out that receivers lack by it.
        """
    @property
    def objects_withdrawn(self, /) -> int:
        """
        How many files changed or vanished while they were being sent.
        """
    @property
    def progress(self, /) -> SendProgress:
        """
        The progress at the end.
        """
    @property
    def reason(self, /) -> str:
        """
        Why it ended: `time`, `rounds`, `completions`, `all_complete` or `interrupted`.
        """
    @property
    def receivers(self, /) -> float | None:
        """
        About how many receivers there were at the end; None if they were not asked.
        """

@final
class StreamLayerReceived:
    """
    What became of a layer of live data.
    """
    @property
    def bytes(self, /) -> int:
        """
        Their bytes.
        """
    @property
    def delay_max_ms(self, /) -> float:
        """
        The longest.
        """
    @property
    def delay_ms(self, /) -> float | None:
        """
        The mean delay in milliseconds; None before the first unit.
        """
    @property
    def units(self, /) -> int:
        """
        Units that were delivered.
        """
    @property
    def units_absent(self, /) -> int:
        """
        Units that were sent while the layer was not held.
        """
    @property
    def units_late(self, /) -> int:
        """
        Units that came too late.
        """
    @property
    def units_lost(self, /) -> int:
        """
        Units that never came.
        """
    @property
    def units_unwritten(self, /) -> int:
        """
        Units that were delivered, and that the output did not take.
        """

@final
class StreamLayerSent:
    """
    What a layer of live data has sent.
    """
    @property
    def bytes(self, /) -> int:
        """
        Their bytes.
        """
    @property
    def units(self, /) -> int:
        """
        Units that came.
        """
    @property
    def units_expired(self, /) -> int:
        """
        Units that waited longer than the deadline, and were not sent.
        """

@final
class StreamReceiveProgress:
    """
    How far a reception of live data is.
    """
    @property
    def elapsed_s(self, /) -> float:
        """
        Seconds since the start.
        """
    @property
    def layers(self, /) -> list[StreamLayerReceived]:
        """
        Each layer, from the base up.
        """
    @property
    def level(self, /) -> int:
        """
        The level of the receiver: of 0 it holds the base layer alone; -1 before.
        """
    @property
    def packets_lost(self, /) -> float | None:
        """
        The share of packets that were lost over the last seconds; None before the first packet.
        """

@final
class StreamReceived:
    """
    The live data that was received.
    """
    @property
    def progress(self, /) -> StreamReceiveProgress:
        """
        The progress at the end.
        """
    @property
    def reason(self, /) -> str:
        """
        Why it ended: `session_ended`, `time`, `interrupted` or `outputs`, which nobody reads any more.
        """

@final
class StreamSendProgress:
    """
    How far a transmission of live data is.
    """
    @property
    def bytes(self, /) -> int:
        """
        Their bytes with all headers.
        """
    @property
    def elapsed_s(self, /) -> float:
        """
        Seconds since the start.
        """
    @property
    def layers(self, /) -> list[StreamLayerSent]:
        """
        Each layer, from the base up.
        """
    @property
    def packets(self, /) -> int:
        """
        Packets sent.
        """

@final
class StreamSent:
    """
    The live data that was sent.
    """
    @property
    def progress(self, /) -> StreamSendProgress:
        """
        The progress at the end.
        """
    @property
    def reason(self, /) -> str:
        """
        Why it ended: `inputs`, `time` or `interrupted`.
        """

@final
class Sweep:
    """
    A sweep that was checked, and its directory.
    """
    def __new__(cls, /, name: str, text: str, overrides: SupportsGetItem[int, str], vary: SupportsGetItem[int, str], metrics: SupportsGetItem[int, str], directory: str | PathLike[str], command: str, replications: SupportsIndex | None = None, seed: SupportsIndex | None = None) -> Sweep:
        """
        Reads and checks a sweep and opens its directory.
        """
    @property
    def cells(self, /) -> int:
        """
        How many cells there are.
        """
    @property
    def directory(self, /) -> Path:
        """
        Where its files are.
        """
    def missing(self, /) -> list[tuple[int, int]]:
        """
        Which replications are not done: the cell, from 0, and the replication, from 1.
        """
    @property
    def replications(self, /) -> int:
        """
        How many replications each cell has.
        """
    def results(self, /) -> Swept:
        """
        The results of what is done.
        """
    def run(self, /, jobs: SupportsIndex | None = None, progress: Any | None = None) -> bool:
        """
        Runs what is missing on this machine. True if Ctrl-C stopped it.
        """
    def take(self, /, cell: SupportsIndex, replication: SupportsIndex, part: bytes) -> None:
        """
        Keeps what `run_task` gave.
        """
    def task(self, /, cell: SupportsIndex, replication: SupportsIndex) -> bytes:
        """
        A replication of a cell, for `run_task` in another process.
        """
    @property
    def warnings(self, /) -> str:
        """
        What makes the results of some cells doubtful, in the command's words; empty if nothing does.
        """

@final
class Swept:
    """
    The results of a sweep.
    """
    @property
    def axes(self, /) -> list[Axis]:
        """
        The keys and their values, in the order given.
        """
    @property
    def complete(self, /) -> bool:
        """
        Whether all replications of all cells are done.
        """
    def flows(self, /) -> Table:
        """
        A row for each cell, replication, window and flow.
        """
    def groups(self, /) -> Table:
        """
        A row for each cell, replication, window and group.
        """
    def links(self, /) -> Table:
        """
        A row for each cell, replication, window and link.
        """
    def means(self, /) -> Table:
        """
        A row for each cell, window, flow, group or link, and reported metric.
        """
    @property
    def metrics(self, /) -> list[str]:
        """
        The names of the reported metrics.
        """
    def summary(self, /) -> str:
        """
        The text of `sweep.json`.
        """
    def text(self, /) -> str:
        """
        The command's table.
        """
    @property
    def title(self, /) -> str:
        """
        The scenario's own name.
        """
    def write(self, /, path: str | PathLike[str]) -> None:
        """
        Writes the files of `layercast sweep --out`.
        """

@final
class Table:
    """
    Columns of one length. polars, pandas, pyarrow and DuckDB take it as it is, by the Arrow PyCapsule interface.
    """
    def __arrow_c_schema__(self, /) -> "object":
        """
        The schema for the Arrow PyCapsule interface.
        """
    def __arrow_c_stream__(self, /, requested_schema: "object | None" = None) -> "object":
        """
        The table for the Arrow PyCapsule interface; no other schema than its own can be requested.
        """
    def __len__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    def _repr_html_(self, /) -> str: ...
    def column(self, /, name: str) -> "list[Any]":
        """
        A column as a list of Python's values, `None` where unknown.

        Raises `KeyError` if there is no such column.
        """
    @property
    def columns(self, /) -> list[str]:
        """
        The names of the columns.
        """
    @property
    def shape(self, /) -> tuple[int, int]:
        """
        The number of rows and of columns.
        """
    def slice(self, /, start: SupportsIndex, length: SupportsIndex) -> Table:
        """
        A part of the rows, without copying.
        """
    def to_arrow(self, /) -> Any:
        """
        As a `pyarrow.Table`, without copying; needs the extra `pandas`.
        """
    def to_pandas(self, /) -> Any:
        """
        As a `pandas.DataFrame`; needs the extra `pandas`. Numbers without nulls are not copied.
        """
    def to_polars(self, /) -> Any:
        """
        As a `polars.DataFrame`, without copying; needs the extra `polars`.
        """

@final
class Transfer:
    """
    A transfer that runs.
    """
    def cancel(self, /) -> None:
        """
        Asks it to end.
        """
    def finish(self, /, progress: Any | None, say: Any) -> bool:
        """
        Waits for the end, and meanwhile calls `progress` with the share that is done, and `say` with each event. What they
        raise cancels the transfer, and so does Ctrl-C. Whether this did.
        """
    @property
    def is_over(self, /) -> bool:
        """
        Whether it has ended.
        """
    def next(self, /) -> TransferEvent | None:
        """
        Waits for the next event; None after the last. Ctrl-C cancels the transfer.
        """
    def outcome(self, /) -> Any:
        """
        The outcome of a transfer that is over, once.
        """
    def poll(self, /, wakes: Wakes) -> list[TransferEvent] | None:
        """
        The events that wait, and none after the last; None if there are none yet: then `wakes` becomes readable when it is worth
        asking again.
        """
    @property
    def progress(self, /) -> Any | None:
        """
        How far it is; None before it first says so.
        """
    @property
    def share(self, /) -> float | None:
        """
        The share that is done, from 0 to 1; None if that is not known, or there is no end.
        """

@final
class TransferEvent:
    """
    Something that a transfer says.
    """
    def __repr__(self, /) -> str: ...
    @property
    def count(self, /) -> int | None:
        """
        The length of a complete file, the bytes that were hashed, how many events were missed.
        """
    @property
    def event(self, /) -> str:
        """
        The event, as docs/events.md calls it: `ready`, `session`, `progress`, `notice`, `object_complete` and so on; `missed` where
        events were thrown away since nobody read them.
        """
    @property
    def path(self, /) -> str | None:
        """
        The path of the file that it is about.
        """
    @property
    def text(self, /) -> str:
        """
        What it says, in words for people; empty if there is no more to say. Of `ready` the session's URL.
        """
    @property
    def warning(self, /) -> bool:
        """
        Whether something is wrong.
        """

@final
class Wakes:
    """
    What an event loop watches to know that a transfer has something to say: a descriptor that becomes readable. The transfer's
    thread writes a byte, since a thread that enters Python while the interpreter ends aborts the process.
    """
    def __new__(cls, /) -> Wakes: ...
    def clear(self, /) -> None:
        """
        Makes it unreadable, before who watches it asks again.
        """
    def fileno(self, /) -> int:
        """
        The descriptor.
        """

def check(name: str, text: str, overrides: SupportsGetItem[int, str]) -> str:
    """
    Reads and checks a scenario: the command's warnings about it, empty if there are none.
    """

def check_protocol(name: str, role: str, options: SupportsGetItem[int, tuple[str, str]], rates: SupportsGetItem[int, SupportsFloat | SupportsIndex], seed: SupportsIndex, count: SupportsIndex) -> str | None:
    """
    Checks the contract for one endpoint of a protocol under `count` random operations. Gives what is wrong; None if
    nothing is.

    # Errors
    `ValueError` if the protocol, an option or the layers are wrong; `ProtocolError` if the protocol raises.
    """

def colours(protocols: SupportsGetItem[int, str]) -> list[tuple[str, int]]:
    """
    The report's colours of protocols, in the order given: `#RRGGBB`, and how often the hue was used before.
    """

def compare(name: str, text: str, protocols: SupportsGetItem[int, str], overrides: SupportsGetItem[int, str], sessions: SupportsGetItem[int, str], with_: SupportsGetItem[int, str], command: str, replications: SupportsIndex | None = None, seed: SupportsIndex | None = None, reference: str | None = None, skip_refused: bool = False, jobs: SupportsIndex | None = None, progress: Any | None = None) -> Compared | None:
    """
    Runs a scenario with each of several protocols. None if it was stopped before the first was done.
    """

def defined() -> list[str]:
    """
    The names of the protocols that Python has defined, in the order of definition.
    """

def expand(name: str, text: str, overrides: SupportsGetItem[int, str]) -> str:
    """
    A scenario as one flat text, with templates and topologies worked in.
    """

def half_interval(samples: SupportsGetItem[int, SupportsFloat | SupportsIndex]) -> float | None:
    """
    Half the width of the 95 % interval of the mean of samples (Student's t); None of fewer than two.
    """

def load(name: str) -> tuple[str, str]:
    """
    Finds a built-in scenario by name, or else a file: its name and text.
    """

def options(name: str) -> list[OptionInfo]:
    """
    The options of a protocol, a TCP, a queue or a kind of traffic.
    """

def protocols() -> list[ProtocolInfo]:
    """
    The multicast protocols, those that Python has defined last.
    """

def register(definition: Incomplete) -> None:
    """
    Defines a protocol, in place of an earlier one of that name from Python.
    """

def run(name: str, text: str, overrides: SupportsGetItem[int, str], command: str, jobs: SupportsIndex | None = None, progress: Any | None = None) -> Ran | None:
    """
    Runs a scenario. `command` is what the report shows as the command that repeats the run. None if it was stopped before the first replication was done.
    """

def run_task(task: bytes) -> bytes:
    """
    Runs a task and gives the bytes of its part.
    """

def scenarios() -> list[tuple[str, str]]:
    """
    The built-in scenarios: each one's name and title.
    """

def start_receive(into: str | PathLike[str], settings: SupportsGetItem[int, tuple[str, str]]) -> Transfer:
    """
    Starts to receive into a folder. Each setting is the name of a parameter and a text.
    """

def start_send(paths: SupportsGetItem[int, str | PathLike[str]], settings: SupportsGetItem[int, tuple[str, str]]) -> Transfer:
    """
    Starts to send. Each setting is the name of a parameter and a text.
    """

def start_stream_receive(into: str | PathLike[str] | None, pipes: SupportsIndex, settings: SupportsGetItem[int, tuple[str, str]]) -> tuple[Transfer, list[int]]:
    """
    Starts to receive live data, into a folder or so many pipes, one for each layer. The descriptors to read from, which are the
    caller's. Each setting is the name of a parameter and a text.
    """

def start_stream_send(inputs: SupportsGetItem[int, str | PathLike[str] | None], settings: SupportsGetItem[int, tuple[str, str]]) -> tuple[Transfer, list[int]]:
    """
    Starts to send live data: an input for each layer is a path, or None for a pipe. The descriptors to write to, which are the
    caller's, in the order of the layers. Each setting is the name of a parameter and a text.
    """

def unregister(name: str) -> bool:
    """
    Takes a protocol back. True if there was one of that name.
    """

"""One's own protocol: a class for its source, one for its receiver, dataclasses for options and headers.

Defining the class is enough: `base` is then a protocol of `run`, `sweep` and `compare` like any other. Times are
whole nanoseconds; `SECOND` and `MS` are factors. Rates are in bit/s, sizes in bytes.

Examples
--------
>>> @dataclass(frozen=True)
... class Data:
...     layer: int
...     seq: int
>>> class Source(LayeredSource):
...     def header(self, now, layer, seq):
...         return Data(layer, seq)
>>> class Receiver(layercast.Receiver):
...     def on_start(self, now):
...         self.set_level(0)
>>> class Base(Protocol, name="base"):
...     "Holds the base layer."
...     headers = (Data,)
...     source = Source
...     receiver = Receiver
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints

from layercast import _layercast
from layercast._layercast import EndpointBase, LayerClocks, Packet, Random

__all__ = [
    "MS",
    "SECOND",
    "US",
    "Duration",
    "LayerClocks",
    "LayeredSource",
    "NoOptions",
    "Packet",
    "Protocol",
    "Random",
    "Rate",
    "Receiver",
    "Size",
    "Source",
    "defined",
    "option",
    "seconds",
]

US = 1_000
"""Nanoseconds in a microsecond."""
MS = 1_000_000
"""Nanoseconds in a millisecond."""
SECOND = 1_000_000_000
"""Nanoseconds in a second."""

Duration = Annotated[int, "duration"]
"""An option that is a length of time: `"250 ms"` in scenarios, nanoseconds here."""
Rate = Annotated[float, "rate"]
"""An option that is a rate: `"128 kbit/s"` in scenarios, bit/s here."""
Size = Annotated[int, "size"]
"""An option that is a size: `"1000 bytes"` in scenarios, bytes here."""

T = TypeVar("T")


def seconds(value: float) -> int:
    """A time in seconds as nanoseconds, rounded."""
    return round(value * SECOND)


def option(default: T, doc: str = "", *, low: T | None = None, high: T | None = None) -> T:
    """The default of an option's field, with its meaning and bounds.

    Parameters
    ----------
    default : int, float, bool or str
        As the field has it: nanoseconds, bit/s, bytes.
    doc : str
        What it means and where it comes from.
    low, high : optional
        The smallest and the largest value allowed.
    """
    made: T = field(default=default, metadata={"doc": doc, "low": low, "high": high})
    return made


class _Endpoint(EndpointBase):
    """What sources and receivers have in common. An input that no method is written for does nothing."""

    def on_start(self, now: int) -> None:
        """The session begins for this endpoint."""

    def on_packet(self, now: int, packet: Packet) -> None:
        """A packet arrived."""

    def on_timer(self, now: int, name: str) -> None:
        """A timer is due."""

    def on_join_failed(self, now: int, channel: int) -> None:
        """A channel could not be joined; it is not held."""

    def on_send_refused(self, now: int, channel: int) -> None:
        """A packet for this channel could not be sent, and is lost."""

    def on_demand(self, now: int, level: int) -> None:
        """No receiver holds more than this level; what lies above it need not be sent."""

    def on_data_exhausted(self, now: int) -> None:
        """The application has no data for now."""

    def on_data_available(self, now: int) -> None:
        """The application has data again."""

    def on_finish(self, now: int) -> None:
        """The application has no more data. A source that has work left calls `end` when it is done."""
        self.end()

    def on_stop(self, now: int) -> None:
        """The session ends for this endpoint, which then leaves its channels and has no timers."""


class Source(_Endpoint):
    """A source. Write the `on_...` methods that it needs; `__init__`, if any, takes no arguments.

    See `EndpointBase` for what it may ask for: `send`, `send_to`, `set_timer`, `end`.
    """


class Receiver(_Endpoint):
    """A receiver. Write the `on_...` methods that it needs; `__init__`, if any, takes no arguments.

    See `EndpointBase` for what it may ask for: `join`, `leave`, `set_level`, `send_report`, `set_timer`, `end`.
    """

    def on_join_failed(self, now: int, channel: int) -> None:
        """Leaves the layers above one that could not be joined."""
        if channel < self.layers:
            self.set_level(channel - 1, "join failed")


class LayeredSource(Source):
    """A source that sends every layer at its constant rate on the channel of that number.

    Write `header`. Layers above those that receivers hold are not sent; each begins at a random phase.
    """

    #: By which part of its spacing a packet may leave later than planned, at random.
    dither: float = 0.0

    def header(self, now: int, layer: int, seq: int) -> Any:
        """The header of the next packet of a layer, which has this number there (modulo 2^32)."""
        raise NotImplementedError(f"{type(self).__name__} needs a method `header`")

    def on_start(self, now: int) -> None:
        """Begins all layers."""
        self.clocks = LayerClocks(self, self.dither)
        self.clocks.begin(now)
        self._send_due(now)

    def on_timer(self, now: int, name: str) -> None:
        """Sends what is due."""
        if name == "departure":
            self._send_due(now)

    def on_demand(self, now: int, level: int) -> None:
        """Sends the layers that are asked for."""
        self.clocks.demand(now, level)
        self._send_due(now)

    def on_data_exhausted(self, now: int) -> None:
        """Sends nothing."""
        self.clocks.pause()
        self._send_due(now)

    def on_data_available(self, now: int) -> None:
        """Sends again."""
        self.clocks.resume(now)
        self._send_due(now)

    def _send_due(self, now: int) -> None:
        while (due := self.clocks.take_due(now)) is not None:
            layer, seq = due
            self.send(layer, self.header(now, layer, seq))
        at = self.clocks.next
        if at is None:
            self.cancel_timer("departure")
        else:
            self.set_timer(at, "departure")


@dataclass(frozen=True)
class NoOptions:
    """No options."""


Gauges = Mapping[str, str] | Sequence[str]
"""Attributes of an endpoint that probes may record: names, or names with units. A unit that begins with `+` is
that of a counter."""


class Protocol:
    """A protocol. Subclass it with a name, and it can be run; a class of the same name replaces it.

    Attributes
    ----------
    options : type
        A dataclass of int, float, bool, `Literal` of names, `Duration`, `Rate` and `Size`, each with a default;
        see `option`.
    headers : sequence of type
        The dataclasses of its packets, with at most 8 fields of int (64 bits), float or bool, or None.
    source, receiver : type
        The endpoints: subclasses of `Source` and `Receiver`.
    layered : bool
        Whether receivers choose between layers; otherwise there is one rate.
    ecn : bool
        Whether congestion marks count.
    start : str
        How the rate of a new receiver rises, in a few words.
    agreed : sequence of str
        The options on which a source and its receivers must agree.
    most_receivers : int or None
        How many receivers a session may have.
    source_gauges, receiver_gauges : mapping or sequence of str
        Attributes that probes may record, with their units.
    """

    options: ClassVar[type] = NoOptions
    headers: ClassVar[Sequence[type]] = ()
    source: ClassVar[type[Source]] = Source
    receiver: ClassVar[type[Receiver]] = Receiver
    layered: ClassVar[bool] = True
    ecn: ClassVar[bool] = False
    start: ClassVar[str] = ""
    agreed: ClassVar[Sequence[str]] = ()
    most_receivers: ClassVar[int | None] = None
    source_gauges: ClassVar[Gauges] = ()
    receiver_gauges: ClassVar[Gauges] = ()
    name: ClassVar[str] = ""

    def __init_subclass__(cls, *, name: str | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if name is not None:
            cls.name = name
            cls.define()

    @classmethod
    def channels(cls, options: Any, layer_rates: Sequence[float], packet_size: int) -> int:
        """How many channels a session has: one for each layer, unless this says otherwise."""
        return len(layer_rates)

    @classmethod
    def check(cls, options: Any, layer_rates: Sequence[float], packet_size: int) -> None:
        """Raises an exception if the protocol cannot carry these layers: its text is the scenario's error."""

    @classmethod
    def define(cls) -> None:
        """Defines the protocol again, after `forget` or when one of its classes was changed."""
        _layercast.register(_Definition(cls))

    @classmethod
    def forget(cls) -> None:
        """Takes the protocol back."""
        _layercast.unregister(cls.name)


def defined() -> list[str]:
    """The names of the protocols that this process has defined."""
    return _layercast.defined()


class _Definition:
    """A protocol as the native part takes it."""

    def __init__(self, cls: type[Protocol]) -> None:
        self.name = cls.name
        self.summary = (inspect.getdoc(cls) or "").partition("\n\n")[0].replace("\n", " ")
        self.layered, self.ecn, self.start = cls.layered, cls.ecn, cls.start
        self.agreed = list(cls.agreed)
        self.most_receivers = cls.most_receivers
        self.protocol, self.options_class = cls, cls.options
        self.options = _options(cls.options)
        self.headers = [(header, _header_fields(header)) for header in cls.headers]
        self.source, self.receiver = cls.source, cls.receiver
        self.source_gauges = _gauges(cls.source_gauges)
        self.receiver_gauges = _gauges(cls.receiver_gauges)
        self.module, self.file = cls.__module__, _file(cls)
        self.digest = _digest([cls, cls.options, *cls.headers, cls.source, cls.receiver])


def _file(cls: type) -> str:
    try:
        return os.path.abspath(inspect.getfile(cls))
    except (OSError, TypeError):
        return ""


def _load(module: str, file: str) -> None:
    """Imports the module of a protocol, or else runs its file as a module of that name."""
    if module != "__main__":
        try:
            importlib.import_module(module)
            return
        except ImportError:
            pass
    if not os.path.isfile(file):
        where = f"its file {file} is not here" if file else "it was typed in; put it into a module"
        raise ImportError(f"cannot be defined in this process: {where}")
    name = "_layercast_main" if module == "__main__" else module
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot be defined in this process: {file} is no module of Python")
    # The classes are found in their module when their sources are read.
    made = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)


def _dataclass(cls: type, what: str) -> None:
    if not is_dataclass(cls):
        raise TypeError(f"{cls.__qualname__}: {what} must be a dataclass")


def _hints(cls: type) -> dict[str, Any]:
    try:
        return get_type_hints(cls, include_extras=True)
    except NameError as error:
        raise TypeError(f"{cls.__qualname__}: {error}; define the type where the module can see it") from error


def _options(cls: type) -> list[tuple[str, str, list[str], Any, Any, Any, str]]:
    _dataclass(cls, "options")
    hints, found = _hints(cls), []
    for one in fields(cls):
        hint, choices = hints[one.name], []
        if one.default is MISSING:
            raise TypeError(f"{cls.__qualname__}.{one.name}: an option needs a default")
        if get_origin(hint) is Annotated:
            kind = str(get_args(hint)[1])
        elif get_origin(hint) is Literal:
            kind, choices = "choice", [str(name) for name in get_args(hint)]
        else:
            kind = getattr(hint, "__name__", str(hint))
        get = one.metadata.get
        found.append((one.name, kind, choices, one.default, get("low"), get("high"), get("doc", "")))
    return found


def _header_fields(cls: type) -> list[tuple[str, str, bool]]:
    _dataclass(cls, "a header")
    hints, found = _hints(cls), []
    for one in fields(cls):
        hint, optional = hints[one.name], False
        arms = get_args(hint)
        if type(None) in arms and len(arms) == 2:
            optional = True
            hint = next(arm for arm in arms if arm is not type(None))
        found.append((one.name, getattr(hint, "__name__", str(hint)), optional))
    return found


def _gauges(given: Gauges) -> list[tuple[str, str, bool]]:
    pairs = given.items() if isinstance(given, Mapping) else [(name, "") for name in given]
    return [(name, unit.removeprefix("+"), unit.startswith("+")) for name, unit in pairs]


def _digest(classes: list[type]) -> str:
    """A digest of the classes' sources and those they inherit from, as far as they have any."""
    digest = hashlib.sha256()
    seen = dict.fromkeys(base for cls in classes for base in cls.__mro__)
    for cls in seen:
        if cls.__module__ in ("builtins", "layercast._layercast"):
            continue
        digest.update(cls.__qualname__.encode())
        try:
            digest.update(inspect.getsource(cls).encode())
        except (OSError, TypeError):
            # Typed into an interpreter that keeps no source: the code itself.
            for name, value in sorted(vars(cls).items()):
                code = getattr(getattr(value, "__func__", value), "__code__", None)
                digest.update(f"{name} {code.co_code.hex()} {code.co_consts!r}".encode() if code else name.encode())
    return digest.hexdigest()[:16]

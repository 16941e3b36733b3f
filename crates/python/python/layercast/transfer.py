"""Files over multicast, as `layercast send` and `layercast receive`: blocking, and with asyncio.

`send` and `receive` wait for the end. `Sending` and `Receiving` run on, and are iterated for their events, awaited, or both; the
end of their `with` block cancels what still runs, and waits for its end. Rates and times are texts as for the command: `"50 Mbit/s"`,
`"5 min"`. Linux only.
"""

from __future__ import annotations

import asyncio
import os
import sys
import warnings
from collections.abc import AsyncIterator, Generator, Iterable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypedDict, TypeVar, cast

from layercast import _layercast, _settings
from layercast._progress import Progress, shown
from layercast.errors import Stopped, TransferError, TransferWarning

if sys.platform == "linux":
    from layercast._layercast import Received as Received
    from layercast._layercast import ReceiveProgress as ReceiveProgress
    from layercast._layercast import SendProgress as SendProgress
    from layercast._layercast import Sent as Sent
    from layercast._layercast import TransferEvent as TransferEvent

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

Path: TypeAlias = str | os.PathLike[str]


class SendOptions(TypedDict, total=False):
    """How files are sent; what is not given is as the command has it.

    Attributes
    ----------
    from_, to : str
        The rate below which no receiver falls, and the one that none exceeds.
    control : str
        The congestion control; Tide by default.
    set : mapping or sequence of str
        Options of the congestion control: `{"t_join_max": "10 s"}`.
    packet : str
        The size of packets with all headers, such as `"1400 bytes"`.
    interface : str
        The interface, by name or address.
    ttl : int
        The time to live of packets.
    for_ : str
        Ends after this time.
    rounds : int
        Ends when so many times as many symbols were sent as the files have.
    until_complete : int
        Ends when so many receivers have said that they are complete.
    group_key, key : path
        The file of the group key that authenticates packets; of the secret key that signs.
    encrypt : bool
        Encrypts packets too, by the group key.
    follow : bool
        Sends changes of the files too.
    all_layers : bool
        Sends all layers always, for receivers without a way back.
    state : path
        Where a sender keeps what it needs to go on that is started again.
    name : str
        What people call the session; the name of the first path by default.
    announce : bool
        Whether it is announced; sessions of local scopes are by default.
    serve, serve_only : str
        Serves relays and receivers by unicast too, or nobody else: `"192.0.2.1:5600"`.
    reliable : bool
        Sends each file once, in order, to those that `serve` serves, over relays that take part, until all have it; by AMCA or NCA.
    gather : str
        How long a reliable session waits for others after the first: `"2 s"`.
    relays : sequence of str
        Relays that announcements name: `["relay.example.net:5600"]`.
    """

    from_: str
    to: str
    control: str
    set: Mapping[str, Any] | Iterable[str]
    packet: str
    interface: str
    ttl: int
    for_: str
    rounds: int
    until_complete: int
    group_key: Path
    encrypt: bool
    key: Path
    follow: bool
    all_layers: bool
    state: Path
    name: str
    announce: bool
    serve: str
    serve_only: str
    reliable: bool
    gather: str
    relays: Iterable[str]


class ReceiveOptions(TypedDict, total=False):
    """Which session is received, and how; what is not given is as the command has it.

    Attributes
    ----------
    group : str
        The group of the base layer, such as `"239.1.2.0"`; or one of the next three.
    url, name, description : str, str, path
        The session's URL; the name under which it is announced; the file of its description.
    source : str
        Takes packets of the group from this address only.
    interface : str
        The interface, by name or address.
    group_key : path
        The file of the group key: takes only packets that it authenticates.
    keys : sequence of path
        Files of public keys: receives only what one of them has signed.
    relays : sequence of str
        Where no multicast comes, takes packets from these relays: `["relay.example.net:5600"]`.
    relay_only : bool
        Does not try multicast.
    reliable : bool
        Receives what is sent reliably, from the relays that are given or described; these may be the source.
    amt : str
        Where no multicast comes, takes packets from this AMT relay, or by `"discover"` from the next one.
    feedback : str
        How messages to the sender go while a relay is used: `"relay"`, `"direct"` or `"none"`.
    replace : bool
        Replaces files of the same path and other content.
    mirror : bool
        Keeps the folder in step with the sender, until it is cancelled.
    keep_going : bool
        Goes on after the end of a session, until it is cancelled.
    patience, start_within, within : str
        The longest wait for packets, for a session, and in all.
    silent : bool
        Sends the source neither progress nor completion.
    set : mapping or sequence of str
        Options of the congestion control.
    """

    group: str
    url: str
    name: str
    description: Path
    source: str
    interface: str
    group_key: Path
    keys: Iterable[Path]
    relays: Iterable[str]
    relay_only: bool
    reliable: bool
    amt: str
    feedback: str
    replace: bool
    mirror: bool
    keep_going: bool
    patience: str
    start_within: str
    within: str
    silent: bool
    set: Mapping[str, Any] | Iterable[str]


def _settings_of(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Parameters as names and texts; of a sequence one for each element."""
    if sys.platform != "linux":
        raise TransferError("sending and receiving need Linux")
    found: list[tuple[str, str]] = []
    for name, value in options.items():
        if value is None or (value is False and name != "announce"):
            continue
        if name == "set":
            found += [("set", setting) for setting in _settings.settings(value)]
        elif name in ("relays", "keys"):
            found += [(name, os.fspath(one)) for one in value]
        elif isinstance(value, bool):
            found.append((name, str(value).lower()))
        elif isinstance(value, (int, float)):
            found.append((name, str(value)))
        else:
            found.append((name, os.fspath(value)))
    return found


def _warn(event: TransferEvent) -> None:
    if event.warning:
        what = f"{event.path}: {event.text}" if event.path else event.text
        warnings.warn(what, TransferWarning, stacklevel=4)


_Outcome = TypeVar("_Outcome")
_Done = TypeVar("_Done")


class _Transfer(Generic[_Outcome, _Done]):
    """A transfer that runs, with its outcome."""

    _what: str

    def __init__(self, native: _layercast.Transfer) -> None:
        self._native = native
        self._outcome: _Outcome | Exception | None = None
        self._waiting: list[TransferEvent] = []

    @property
    def progress(self) -> _Done | None:
        """How far it is; None before it first says so."""
        return cast("_Done | None", self._native.progress)

    @property
    def share(self) -> float | None:
        """The share that is done, from 0 to 1; None if that is not known, or there is no end."""
        return self._native.share

    def cancel(self) -> None:
        """Asks it to end. A sender has an outcome then as always."""
        self._native.cancel()

    def _ended(self) -> _Outcome:
        if self._outcome is None:
            try:
                self._outcome = cast("_Outcome", self._native.outcome())
            except TransferError as error:
                self._outcome = error
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome

    def wait(self, progress: Progress = None) -> _Outcome:
        """Waits for the end, and warns of what is wrong meanwhile. Reads the events that nobody has read.

        Parameters
        ----------
        progress : bool or callable, optional
            As for `layercast.run`.

        Raises
        ------
        TransferError
            Why it could not start or ended early.
        Stopped
            Ctrl-C cancelled it; its `result` is what was sent, or None for a receiver.
        """
        with shown(progress, self._what) as show:
            stopped = self._native.finish(show, _warn)
        try:
            outcome = self._ended()
        except TransferError:
            if stopped:
                raise Stopped(None) from None
            raise
        if stopped:
            raise Stopped(cast("Sent", outcome))
        return outcome

    def __iter__(self) -> Iterator[TransferEvent]:
        """The events, each waited for."""
        while self._waiting:
            yield self._waiting.pop(0)
        while (event := self._native.next()) is not None:
            yield event

    async def __aiter__(self) -> AsyncIterator[TransferEvent]:
        """The events, each awaited."""
        loop, woken, wakes = asyncio.get_running_loop(), asyncio.Event(), _layercast.Wakes()
        loop.add_reader(wakes, woken.set)
        try:
            while True:
                while self._waiting:
                    yield self._waiting.pop(0)
                woken.clear()
                wakes.clear()
                events = self._native.poll(wakes)
                if events is None:
                    await woken.wait()
                elif events:
                    self._waiting += events
                else:
                    return
        finally:
            loop.remove_reader(wakes)

    async def _awaited(self) -> _Outcome:
        try:
            async for event in self:
                _warn(event)
        except asyncio.CancelledError:
            self.cancel()
            raise
        return self._ended()

    def __await__(self) -> Generator[Any, None, _Outcome]:
        """The outcome, awaited; cancelling the task cancels the transfer."""
        return self._awaited().__await__()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()
        while self._native.next() is not None:
            pass

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()
        async for _ in self:
            pass


class Sending(_Transfer["Sent", "SendProgress"]):
    """Files that are being sent.

    Parameters
    ----------
    paths : path or sequence of paths
        Files and folders; of a folder with `/` at its end, the content.
    group : str
        The group of the base layer, such as `"239.1.2.0"`; each further channel has the next address.
    **options
        `SendOptions`.

    Raises
    ------
    ArgumentError
        A parameter is wrong.
    """

    _what = "send"

    def __init__(self, paths: Path | Iterable[Path], *, group: str, **options: Unpack[SendOptions]) -> None:
        settings = _settings_of({"group": group, **options})
        several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
        super().__init__(_layercast.start_send([os.fspath(path) for path in several], settings))


class Receiving(_Transfer["Received", "ReceiveProgress"]):
    """Files that are being received.

    Parameters
    ----------
    into : path
        The folder for the files, which exists.
    **options
        `ReceiveOptions`; `group`, `url`, `name` or `description` names the session.

    Raises
    ------
    ArgumentError
        A parameter is wrong.
    """

    _what = "receive"

    def __init__(self, into: Path, **options: Unpack[ReceiveOptions]) -> None:
        super().__init__(_layercast.start_receive(os.fspath(into), _settings_of(options)))


def send(
    paths: Path | Iterable[Path], *, group: str, progress: Progress = None, **options: Unpack[SendOptions]
) -> Sent:
    """Sends files until an end, as `layercast send`: `for_`, `rounds`, `until_complete` or Ctrl-C.

    Parameters
    ----------
    paths, group, **options
        As for `Sending`.
    progress : bool or callable, optional
        As for `layercast.run`.

    Returns
    -------
    Sent
        Why it ended, and who has the files.

    Raises
    ------
    ArgumentError, TransferError, Stopped
        As `Sending` and its `wait`.

    Warns
    -----
    TransferWarning
        Something is wrong that does not end it.
    """
    with Sending(paths, group=group, **options) as sending:
        return sending.wait(progress)


def receive(into: Path, *, progress: Progress = None, **options: Unpack[ReceiveOptions]) -> Received:
    """Receives the files of a session into a folder, as `layercast receive`.

    Parameters
    ----------
    into, **options
        As for `Receiving`.
    progress : bool or callable, optional
        As for `layercast.run`.

    Returns
    -------
    Received
        Where the files are.

    Raises
    ------
    ArgumentError, TransferError, Stopped
        As `Receiving` and its `wait`.

    Warns
    -----
    TransferWarning
        Something is wrong that does not end it.
    """
    with Receiving(into, **options) as receiving:
        return receiving.wait(progress)

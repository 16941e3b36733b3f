"""Live data over multicast, as `layercast send --stream` and `layercast receive --stream`: blocking, and with asyncio.

Each layer has an input and an output of its own. Bytes go in at one side, and come out at the other in whole units. `send_stream`
and `receive_stream` wait for the end. `StreamSending` and `StreamReceiving` run on, as `Sending` and `Receiving` do. Linux only.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from threading import Thread
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Protocol, TypeAlias, cast, runtime_checkable

from layercast import _layercast
from layercast._progress import Progress
from layercast.transfer import Path, ReceiveOptions, SendOptions, _settings_of, _Transfer

if sys.platform == "linux":
    from layercast._layercast import StreamLayerReceived as StreamLayerReceived
    from layercast._layercast import StreamLayerSent as StreamLayerSent
    from layercast._layercast import StreamReceiveProgress as StreamReceiveProgress
    from layercast._layercast import StreamReceived as StreamReceived
    from layercast._layercast import StreamSendProgress as StreamSendProgress
    from layercast._layercast import StreamSent as StreamSent

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: The most bytes that are read at once.
CHUNK = 1 << 16


@runtime_checkable
class Reads(Protocol):
    """What bytes can be read from."""

    def read(self, size: int, /) -> bytes:
        """Bytes, at most so many; none at the end."""
        ...


class Writes(Protocol):
    """What bytes can be written to."""

    def write(self, data: bytes, /) -> object:
        """Takes all bytes."""
        ...


Source: TypeAlias = "Path | Reads | Iterable[bytes] | AsyncIterable[bytes] | None"
Sources: TypeAlias = "Source | list[Source] | tuple[Source, ...]"
Sink: TypeAlias = "Writes | None"
Sinks: TypeAlias = "Sink | list[Sink] | tuple[Sink, ...]"


class StreamSendOptions(SendOptions, total=False):
    """How live data is sent. Of `SendOptions` those of files are refused.

    Attributes
    ----------
    deadline : str
        Delivers a unit within this time or not at all; `"500 ms"` by default.
    units : str
        What is delivered whole or not at all: units of this size, or `"length"` if each is preceded by its length in 32 bits.
    repair : float
        Repair symbols for each symbol of the data, from 0 to 1.
    """

    deadline: str
    units: str
    repair: float


def _chunks(source: Reads | Iterable[bytes]) -> Iterator[bytes]:
    if not isinstance(source, Reads):
        yield from source
        return
    read = getattr(source, "read1", source.read)
    while data := read(CHUNK):
        yield data


def _write(file: BinaryIO, data: bytes) -> None:
    """Writes everything. Nothing is buffered, so that live data waits for nothing."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


class StreamSending(_Transfer["StreamSent", "StreamSendProgress"]):
    """Live data that is being sent.

    Parameters
    ----------
    inputs : source or list of sources, optional
        The input of each layer, from the base up: a path, an object with `read`, or bytes from an iterable, also an asynchronous one.
        Of None the program writes by `write`, and ends the input by `close`.
    group : str
        The group of the base layer.
    **options
        `StreamSendOptions`.

    Raises
    ------
    ArgumentError
        A parameter is wrong.
    """

    _what = "send"

    def __init__(self, inputs: Sources = None, *, group: str, **options: Unpack[StreamSendOptions]) -> None:
        sources = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        paths = [os.fspath(one) if isinstance(one, (str, os.PathLike)) else None for one in sources]
        native, ends = _layercast.start_stream_send(paths, _settings_of({"group": group, **options}))
        super().__init__(native)
        self._failure: Exception | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._inputs: dict[int, BinaryIO] = {}
        pipes = (cast("BinaryIO", open(end, "wb", buffering=0)) for end in ends)
        for layer, source in enumerate(sources):
            if isinstance(source, (str, os.PathLike)):
                continue
            pipe = next(pipes)
            if source is None:
                self._inputs[layer] = pipe
            elif isinstance(source, AsyncIterable):
                task = asyncio.get_running_loop().create_task(self._await_all(source, pipe))
                self._tasks.append(task)
            else:
                Thread(target=self._write_all, args=(source, pipe), daemon=True).start()

    def _write_all(self, source: Reads | Iterable[bytes], pipe: BinaryIO) -> None:
        try:
            with pipe:
                for data in _chunks(source):
                    _write(pipe, data)
        except BrokenPipeError:
            pass  # The transmission has ended.
        except Exception as error:
            self._fail(error)

    async def _await_all(self, source: AsyncIterable[bytes], pipe: BinaryIO) -> None:
        loop, written = asyncio.get_running_loop(), None
        try:
            async for data in source:
                written = loop.run_in_executor(None, _write, pipe, data)
                await asyncio.shield(written)
        except BrokenPipeError:
            pass
        except asyncio.CancelledError:
            self.cancel()
            raise
        except Exception as error:
            self._fail(error)
        finally:
            if written is not None and not written.done():
                await asyncio.wait([written])
            pipe.close()

    def _fail(self, error: Exception) -> None:
        self._failure = error
        self.cancel()

    def _ended(self) -> StreamSent:
        outcome = super()._ended()
        if self._failure is not None:
            raise self._failure
        return outcome

    def write(self, data: bytes, layer: int = 0) -> None:
        """Writes to a layer whose input is None; waits while the layer has no room.

        Raises
        ------
        BrokenPipeError
            The transmission has ended.
        """
        _write(self._inputs[layer], data)

    def close(self) -> None:
        """Ends the inputs that the program writes. The transmission ends when all inputs have ended and all is sent."""
        for pipe in self._inputs.values():
            pipe.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        self.close()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await super().__aexit__(kind, error, trace)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.close()


class Data:
    """The bytes of a layer as they come, in a `for` or an `async for`, until the end. They are not divided into units."""

    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe = pipe

    def __iter__(self) -> Iterator[bytes]:
        while data := self._pipe.read(CHUNK):
            yield data

    async def __aiter__(self) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(loop=loop)
        # The loop forgets a descriptor of its own before it closes it.
        pipe = open(os.dup(self._pipe.fileno()), "rb", buffering=0)
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        try:
            while data := await reader.read(CHUNK):
                yield data
        finally:
            transport.close()


class StreamReceiving(_Transfer["StreamReceived", "StreamReceiveProgress"]):
    """Live data that is being received.

    Parameters
    ----------
    outputs : sink or list of sinks, optional
        The output of each layer, from the base up: an object with `write`, or None for a layer that the program reads by `data`. Layers
        without one are dropped.
    into : path, optional
        In place of outputs the folder for files `layer-0`, `layer-1` and so on.
    **options
        `ReceiveOptions`; `group`, `url`, `name` or `description` names the session. Those of files are refused.

    Raises
    ------
    ArgumentError
        A parameter is wrong.
    """

    _what = "receive"

    def __init__(
        self, outputs: Sinks = None, *, into: Path | None = None, **options: Unpack[ReceiveOptions]
    ) -> None:
        sinks = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        if into is not None and outputs is None:
            sinks = []
        folder = None if into is None else os.fspath(into)
        native, ends = _layercast.start_stream_receive(folder, len(sinks), _settings_of(options))
        super().__init__(native)
        self._failure: Exception | None = None
        self._threads: list[Thread] = []
        self._outputs: dict[int, BinaryIO] = {}
        for layer, (sink, end) in enumerate(zip(sinks, ends)):
            pipe = cast("BinaryIO", open(end, "rb", buffering=0))
            if sink is None:
                self._outputs[layer] = pipe
            else:
                thread = Thread(target=self._read_all, args=(pipe, sink), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _read_all(self, pipe: BinaryIO, sink: Writes) -> None:
        with pipe:
            try:
                for data in Data(pipe):
                    sink.write(data)
            except Exception as error:
                self._failure = error
                self.cancel()

    def _ended(self) -> StreamReceived:
        outcome = super()._ended()
        for thread in self._threads:
            thread.join()
        if self._failure is not None:
            raise self._failure
        return outcome

    def data(self, layer: int = 0) -> Data:
        """The data of a layer whose output is None."""
        return Data(self._outputs[layer])

    def _close(self) -> None:
        self.cancel()
        for pipe in self._outputs.values():
            pipe.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        super().__exit__(kind, error, trace)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        await super().__aexit__(kind, error, trace)


def send_stream(
    inputs: Sources, *, group: str, progress: Progress = None, **options: Unpack[StreamSendOptions]
) -> StreamSent:
    """Sends live data until its inputs end, or `for_` or Ctrl-C ends it.

    Parameters
    ----------
    inputs, group, **options
        As for `StreamSending`.
    progress : bool or callable, optional
        As for `layercast.run`.

    Returns
    -------
    StreamSent
        Why it ended, and what was sent.

    Raises
    ------
    ArgumentError, TransferError, Stopped
        As `StreamSending` and its `wait`; and what an input raises.

    Warns
    -----
    TransferWarning
        Something is wrong that does not end it.
    """
    with StreamSending(inputs, group=group, **options) as sending:
        return sending.wait(progress)


def receive_stream(
    outputs: Sinks = None,
    *,
    into: Path | None = None,
    progress: Progress = None,
    **options: Unpack[ReceiveOptions],
) -> StreamReceived:
    """Receives live data until its end.

    Parameters
    ----------
    outputs, into, **options
        As for `StreamReceiving`.
    progress : bool or callable, optional
        As for `layercast.run`.

    Returns
    -------
    StreamReceived
        Why it ended, and what was received.

    Raises
    ------
    ArgumentError, TransferError, Stopped
        As `StreamReceiving` and its `wait`; and what an output raises.

    Warns
    -----
    TransferWarning
        Something is wrong that does not end it.
    """
    with StreamReceiving(outputs, into=into, **options) as receiving:
        return receiving.wait(progress)

"""Live data over multicast on the loopback interface: by files, iterators and handles, blocking and with asyncio."""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import layercast
import pytest
from layercast.stream import Source, StreamReceived, StreamSent
from test_transfer import HERE, group

pytestmark = pytest.mark.usefixtures("multicast")

UNIT = b"0123456789abcdef"
LIVE: dict[str, Any] = {
    "interface": "127.0.0.1",
    "to": "2 Mbit/s",
    "ttl": 1,
    "announce": False,
    "units": "16 bytes",
    "deadline": "5 s",
}


def units(count: int) -> Iterator[bytes]:
    """Units, some of which come after a receiver has joined."""
    for _ in range(count):
        time.sleep(0.02)
        yield UNIT


def check(data: bytes, received: StreamReceived, sent: StreamSent, count: int) -> None:
    assert data and data == UNIT * (len(data) // len(UNIT))
    assert received.reason == "session_ended" and sent.reason == "inputs"
    (there,), (here,) = sent.progress.layers, received.progress.layers
    assert (there.units, there.bytes) == (count, count * len(UNIT))
    assert (here.bytes, here.units_lost, here.units_late, here.units_unwritten) == (len(data), 0, 0, 0)


def test_an_iterator_is_sent_into_a_file() -> None:
    sink = io.BytesIO()
    with ThreadPoolExecutor() as pool:
        sending = pool.submit(layercast.send_stream, units(150), group=group(70), **LIVE)
        received = layercast.receive_stream(sink, group=group(70), **HERE)
        check(sink.getvalue(), received, sending.result(), 150)


def test_a_program_writes_and_reads_itself() -> None:
    with layercast.StreamSending(group=group(75), **LIVE) as sending:
        with layercast.StreamReceiving(group=group(75), **HERE) as receiving:
            assert any(event.event == "session" for event in receiving)
            for _ in range(100):
                sending.write(UNIT)
                time.sleep(0.02)
            sending.close()
            data = b"".join(receiving.data())
            check(data, receiving.wait(), sending.wait(), 100)


def test_live_data_is_awaited() -> None:
    async def source() -> AsyncIterator[bytes]:
        for _ in range(150):
            await asyncio.sleep(0.02)
            yield UNIT

    async def transfer() -> tuple[bytes, StreamReceived, StreamSent]:
        async with layercast.StreamSending(source(), group=group(85), **LIVE) as sending:
            async with layercast.StreamReceiving(group=group(85), **HERE) as receiving:
                data = [part async for part in receiving.data()]
                return b"".join(data), await receiving, await sending

    check(*asyncio.run(transfer()), 150)


def test_layers_have_inputs_and_outputs_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(UNIT * 400)
    inputs: list[Source] = [tmp_path / "in", io.BytesIO(UNIT * 400)]
    options = {**LIVE, "to": "64 kbit/s", "from_": "32 kbit/s", "control": "fixed"}
    (tmp_path / "out").mkdir()
    with layercast.StreamSending(inputs, group=group(90), **options) as sending:
        with layercast.StreamReceiving(into=tmp_path / "out", group=group(90), **HERE) as receiving:
            assert receiving.wait().reason == "session_ended"
            assert [layer.units for layer in sending.wait().progress.layers] == [400, 400]
    assert (tmp_path / "out" / "layer-0").read_bytes().startswith(UNIT)


def test_an_error_of_an_input_ends_the_transmission() -> None:
    def wrong() -> Iterator[bytes]:
        yield UNIT
        raise RuntimeError("no more data")

    with pytest.raises(RuntimeError, match="no more data"):
        layercast.send_stream(wrong(), group=group(100), **LIVE)


def test_an_abandoned_stream_ends() -> None:
    async def begin() -> None:
        async def source() -> AsyncIterator[bytes]:
            while True:
                await asyncio.sleep(0.01)
                yield UNIT

        async with layercast.StreamSending(source(), group=group(105), **LIVE):
            async with layercast.StreamReceiving(group=group(105), **HERE) as receiving:
                async for _ in receiving.data():
                    break

    begun = time.monotonic()
    asyncio.run(begin())
    assert time.monotonic() - begun < 20


def test_what_is_of_files_is_refused_in_the_words_of_the_command() -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"follow": True}, "follow cannot be used with live data: live data has no files"),
        ({"rounds": 1}, "live data ends with its inputs"),
        ({"from_": "1 Mbit/s", "to": "2 Mbit/s"}, "from_ cannot be used with a stream of one input: it has one layer"),
        ({"repair": 2.0}, "a number from 0 to 1"),
        ({"units": "some"}, "units=.some"),
    ]
    for options, words in wrong:
        with pytest.raises(layercast.ArgumentError, match=words):
            layercast.send_stream(io.BytesIO(), group="239.1.2.0", **options)
    with pytest.raises(layercast.ArgumentError, match="mirror cannot be used with live data"):
        layercast.receive_stream(io.BytesIO(), group="239.1.2.0", mirror=True)
    with pytest.raises(layercast.ArgumentError, match="they name the same outputs"):
        layercast.receive_stream(io.BytesIO(), into=".", group="239.1.2.0")

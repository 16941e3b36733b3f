"""Files over multicast on the loopback interface: blocking, with asyncio, stopped, and refused."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import layercast
import pytest
from layercast.transfer import Received, Sent
from test_stop import interrupt_after

pytestmark = pytest.mark.usefixtures("multicast")

DATA = bytes(at * 2654435761 >> 11 & 255 for at in range(400_000))

#: A session that is quick on one machine.
SMALL: dict[str, Any] = {
    "interface": "127.0.0.1",
    "control": "elm",
    "from_": "4 Mbit/s",
    "to": "16 Mbit/s",
    "ttl": 1,
    "announce": False,
}
HERE: dict[str, Any] = {"interface": "127.0.0.1", "patience": "5 s", "within": "60 s"}


def group(number: int) -> str:
    """The group of a test; each process of tests has its own port."""
    return f"239.255.81.{number}:{20_000 + os.getpid() % 12_000}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "inbox").mkdir()
    (tmp_path / "file").write_bytes(DATA)
    return tmp_path / "file"


def test_a_file_is_sent_and_received(file: Path) -> None:
    inbox, shares = file.parent / "inbox", list[float]()
    with ThreadPoolExecutor() as pool:
        sending = pool.submit(layercast.send, file, group=group(0), until_complete=1, **SMALL)
        received = layercast.receive(inbox, group=group(0), progress=shares.append, **HERE)
        sent = sending.result()
    assert received.path == str(inbox / "file") and received.folder == str(inbox)
    assert (inbox / "file").read_bytes() == DATA
    assert (received.progress.objects_complete, received.progress.objects_bytes) == (1, len(DATA))
    assert shares == sorted(shares) and shares[-1] == 1.0
    assert sent.reason == "completions" and len(sent.completed) == 1
    assert sent.progress.receivers_complete == 1 and sent.progress.bytes > len(DATA)


def test_events_are_awaited_and_so_is_the_end(file: Path) -> None:
    async def transfer() -> tuple[list[str], Sent, Received]:
        async with layercast.Sending([file], group=group(60), until_complete=1, **SMALL) as sending:
            events = []
            async with layercast.Receiving(file.parent / "inbox", group=group(60), **HERE) as receiving:
                async for event in receiving:
                    events.append(event.event)
                assert receiving.share == 1.0
                return events, await sending, await receiving

    events, sent, received = asyncio.run(transfer())
    assert events.count("session") == 1 and events.count("object_complete") == 1
    assert sent.reason == "completions" and received.progress.objects_complete == 1
    assert (file.parent / "inbox" / "file").read_bytes() == DATA


def test_a_url_names_a_session(file: Path) -> None:
    with layercast.Sending(file, group=group(120), **SMALL) as sending:
        url = next(event.text for event in sending if event.event == "ready")
        received = layercast.receive(file.parent / "inbox", url=url, **HERE)
        assert received.progress.objects_complete == 1
        sending.cancel()
        assert sending.wait().reason == "interrupted"


def test_ctrl_c_stops_a_transfer(file: Path) -> None:
    for number, receives in [(180, False), (200, True)]:
        interrupt_after(1)
        begun = time.monotonic()
        with pytest.raises(layercast.Stopped) as caught:
            if receives:
                layercast.receive(file.parent / "inbox", group=group(number), **HERE)
            else:
                layercast.send(file, group=group(number), **SMALL)
        assert time.monotonic() - begun < 5
        assert (caught.value.result is None) == receives


def test_a_cancelled_task_cancels_its_transfer(file: Path) -> None:
    async def cancelled() -> layercast.Sending:
        sending = layercast.Sending(file, group=group(210), **SMALL)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(sending, 0.5)
        return sending

    assert asyncio.run(cancelled()).wait().reason == "interrupted"


def test_errors_have_the_words_and_names_of_the_command(file: Path) -> None:
    inbox = file.parent / "inbox"
    with pytest.raises(layercast.TransferError, match="no valid packet") as caught:
        layercast.receive(inbox, group=group(220), interface="127.0.0.1", patience="500 ms")
    assert caught.value.name == "silent" and not isinstance(caught.value, layercast.ArgumentError)
    with pytest.raises(layercast.TransferError) as caught:
        layercast.receive(inbox / "missing", group=group(220), **HERE)
    assert caught.value.name == "file"


def test_wrong_parameters_are_refused(file: Path) -> None:
    for options, words in [
        ({"group": "here"}, "the group `here`"),
        ({"group": "239.1.2.0", "to": "fast"}, "to=.fast"),
        ({"group": "239.1.2.0", "control": "tides"}, "there is no protocol `tides`"),
        ({"group": "239.1.2.0", "follow": True, "until_complete": 1}, "what changes is never complete"),
        ({"group": "239.1.2.0", "group_key": file}, "is it another file"),
        ({"group": "239.1.2.0", "serve_only": "127.0.0.1:1", "ttl": 3}, "ttl cannot be used with serve_only"),
    ]:
        with pytest.raises(layercast.ArgumentError, match=words):
            layercast.send(file, **options)  # type: ignore[arg-type]
    with pytest.raises(layercast.ArgumentError, match="a receiver needs a session"):
        layercast.receive(file.parent)
    with pytest.raises(TypeError, match="no parameter `speed`"):
        layercast.send(file, group="239.1.2.0", speed=1)  # type: ignore[call-arg]


def test_a_session_is_found_by_its_announced_name(file: Path) -> None:
    inbox, name = file.parent / "inbox", f"python-{os.getpid()}"
    announced = {**SMALL, "announce": True}
    with layercast.Receiving(inbox, name=name, **HERE) as receiving:
        with layercast.Sending(file, group=group(225), name=name, until_complete=1, **announced) as sending:
            assert receiving.wait().path == str(inbox / "file")
            assert sending.wait().reason == "completions"
    with pytest.raises(layercast.TransferError, match="is announced") as caught:
        layercast.receive(inbox, name=name + "-not", interface="127.0.0.1", start_within="200 ms")
    assert caught.value.name == "session_not_found"


def test_files_are_sent_reliably_to_all_that_come(file: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        serve = f"127.0.0.1:{free.getsockname()[1]}"
    inboxes = [file.parent / "inbox", file.parent / "second"]
    inboxes[1].mkdir()
    session: dict[str, Any] = {"group": group(245), "relays": [serve], "reliable": True, "within": "60 s"}
    with ExitStack() as stack:
        receiving = [stack.enter_context(layercast.Receiving(inbox, **session)) for inbox in inboxes]
        sent = layercast.send(file, group=group(245), reliable=True, serve=serve, gather="5 s")
        assert [one.wait().path for one in receiving] == [str(inbox / "file") for inbox in inboxes]
    assert sent.reason == "all_complete"
    assert all((inbox / "file").read_bytes() == DATA for inbox in inboxes)


ENDING = """
import asyncio, sys
import layercast

async def begin():
    sending = layercast.Sending(sys.argv[1], group=sys.argv[2], interface="127.0.0.1", announce=False)
    try:
        await asyncio.wait_for(sending, 1)
    except asyncio.TimeoutError:
        return sending

sending = asyncio.run(begin())
"""


def test_a_program_may_end_while_a_transfer_runs(file: Path) -> None:
    for number in range(3):
        call = [sys.executable, "-c", ENDING, str(file), group(235 + number)]
        ended = subprocess.run(call, capture_output=True, text=True)
        assert (ended.returncode, ended.stderr) == (0, "")

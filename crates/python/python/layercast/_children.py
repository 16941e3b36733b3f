"""Child processes that run tasks one after another, so that a short replication does not wait for an interpreter.

Each thread that runs tasks has a child of its own, which waits for the next one in between. A task goes to the child's
standard input, with its length before it; a status and the part, or the words of the error, come back in the same
form. A child that is too slow or ends is replaced. Children end with their parent, when their input does.
"""

from __future__ import annotations

import atexit
import os
import struct
import subprocess
import sys
import tempfile
import threading
from typing import IO

from layercast import _layercast
from layercast.errors import TaskError, VersionError

#: What comes before each message: its length in bytes, little-endian.
_LENGTH = struct.Struct("<Q")

#: The first byte of an answer.
_DONE, _FAILED, _OTHER_BUILD = b"0", b"1", b"3"

#: How much of what a child wrote to its standard error is repeated, in bytes.
_MOST_WORDS = 4000


def _send(stream: IO[bytes], message: bytes) -> None:
    stream.write(_LENGTH.pack(len(message)) + message)
    stream.flush()


def _receive(stream: IO[bytes]) -> bytes | None:
    """The next message; None if the other side has ended."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    message = stream.read(length)
    return message if len(message) == length else None


class _Limit:
    """Kills a process after some time, unless it is lifted before."""

    def __init__(self, process: subprocess.Popen[bytes], limit_s: float | None) -> None:
        self._process = process
        self._lock = threading.Lock()
        self._is_lifted = self._is_late = False
        self._timer = threading.Timer(limit_s, self._end) if limit_s is not None else None
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()

    def _end(self) -> None:
        with self._lock:
            if not self._is_lifted:
                self._is_late = True
                self._process.kill()

    def lift(self) -> bool:
        """Whether it came too late: the process was killed. After this it is not."""
        with self._lock:
            self._is_lifted = True
        if self._timer is not None:
            self._timer.cancel()
        return self._is_late


class Child:
    """A process that runs tasks."""

    def __init__(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        command = [sys.executable, "-m", "layercast.cluster", "--tasks"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors)
        self.is_fresh = True

    def run(self, task: bytes, time_limit_s: float | None) -> bytes:
        """The part of a task.

        Raises
        ------
        TaskError
            It took too long, it failed, or the child ended. The child is of no use then unless it `is_alive`.
        VersionError
            The child has another build, or other files.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        self.is_fresh = False
        self._errors.truncate(0)
        limit = _Limit(self._process, time_limit_s)
        try:
            _send(self._process.stdin, task)
            answer = _receive(self._process.stdout)
        except OSError:
            answer = None
        except BaseException:
            self.close()
            raise
        finally:
            is_late = limit.lift()
        if is_late:
            self.close()
            raise TaskError(f"a replication took more than {time_limit_s:g} s")
        if not answer:
            words = self._words()
            status = self.close()
            raise TaskError(words or f"the process of a replication ended with status {status}")
        status_byte, content = answer[:1], answer[1:]
        if status_byte == _DONE:
            return content
        words = content.decode(errors="replace")
        raise VersionError(words) if status_byte == _OTHER_BUILD else TaskError(words)

    @property
    def is_alive(self) -> bool:
        """Whether it can run another task."""
        return self._process.poll() is None and not self._errors.closed

    def _words(self) -> str:
        """The end of what it wrote to its standard error."""
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _MOST_WORDS))
        return self._errors.read().decode(errors="replace").strip("\0 \n")

    def close(self) -> int:
        """Ends it, and gives its exit status."""
        self._process.kill()
        status = self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # what was not yet written has no reader
                    pass
        return status


_idle: list[Child] = []
_lock = threading.Lock()


def _forget() -> None:
    """In a fork of this process: the children are the parent's."""
    global _lock
    _lock = threading.Lock()
    _idle.clear()


def close_idle() -> None:
    """Ends all children that have no task."""
    with _lock:
        children, _idle[:] = list(_idle), []
    for child in children:
        child.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
atexit.register(close_idle)


def _keep(child: Child) -> None:
    if child.is_alive:
        with _lock:
            _idle.append(child)


def run_in_child(task: bytes, time_limit_s: float | None) -> bytes:
    """Runs a task in a child that waits for one, or else in a new one.

    Raises
    ------
    TaskError, VersionError
        As `Child.run`.
    """
    with _lock:
        child = _idle.pop() if _idle else None
    if child is not None and not child.is_alive:
        child.close()
        child = None
    child = child or Child()
    was_fresh = child.is_fresh
    try:
        part = child.run(task, time_limit_s)
    except VersionError:
        child.close()
        if was_fresh:
            raise
        # Another version of a module may be loaded there.
        child = Child()
        part = child.run(task, time_limit_s)
    finally:
        _keep(child)
    return part


def serve() -> int:
    """What a child does: answers tasks until its input ends."""
    requests = sys.stdin.buffer
    # What a protocol prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while (task := _receive(requests)) is not None:
        try:
            answer = _DONE + _layercast.run_task(task)
        except VersionError as error:
            answer = _OTHER_BUILD + str(error).encode()
        except Exception as error:  # noqa: BLE001 - whatever it was, the parent gets its words
            answer = _FAILED + (str(error) or type(error).__name__).encode()
        sys.stdout.flush()
        try:
            _send(answers, answer)
        except BrokenPipeError:  # the parent is gone
            return 1
    return 0

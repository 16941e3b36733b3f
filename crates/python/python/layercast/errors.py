"""What can go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from layercast._layercast import Mistake, Sent
    from layercast.results import Comparison, Result, SweepResult


class LayercastError(Exception):
    """Any error of this package."""


class ScenarioError(LayercastError, ValueError):
    """A scenario or a setting is wrong; the text is the command's.

    Attributes
    ----------
    mistakes : tuple of Mistake
        All mistakes at once, each with line, column, what is allowed and the nearest known name; empty if the
        error has no place, such as the name of a scenario that does not exist.
    """

    def __init__(self, text: str, mistakes: tuple[Mistake, ...] = ()) -> None:
        super().__init__(text)
        self.mistakes = mistakes

    @property
    def line(self) -> int | None:
        """The line of the first mistake, from 1."""
        return self.mistakes[0].line if self.mistakes else None

    @property
    def column(self) -> int | None:
        """The column of the first mistake in characters, from 1."""
        return self.mistakes[0].column if self.mistakes else None

    @property
    def nearest(self) -> str | None:
        """The known name most like the first wrong one."""
        return self.mistakes[0].nearest if self.mistakes else None


class RunError(LayercastError, RuntimeError):
    """A run failed, or its results could not be written."""


class ProtocolError(RunError):
    """A protocol written in Python raised an exception, which ended the run.

    The text has the endpoint, the method, the simulated time and the traceback; `__cause__` is the exception.
    """


class VersionError(LayercastError):
    """A task of a sweep came to a process with another build, or with other files of the scenario."""


class TaskError(RunError):
    """A task of a sweep failed on a cluster, or took too long, as often as it may."""


class TransferError(LayercastError, RuntimeError):
    """Files could not be sent or received; the text is the command's.

    Attributes
    ----------
    name : str
        The error's name for programs, which does not change, as in the event `end` of the command.
    """

    name: str = ""


class ArgumentError(TransferError, ValueError):
    """A parameter of a transfer is wrong, so that it was not started."""


class TransferWarning(UserWarning):
    """Something is wrong with a transfer, and does not end it."""


class ScenarioWarning(UserWarning):
    """Something makes the results of a scenario doubtful."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C stopped a run, a sweep, a comparison or a transfer.

    Attributes
    ----------
    result : Result, SweepResult, Comparison, Sent or None
        What was done: the finished replications of a run, the finished parts of a sweep, the protocols of a
        comparison that had run to their end, what was sent; None if nothing was.
    """

    def __init__(self, result: Result | SweepResult | Comparison | Sent | None) -> None:
        super().__init__("stopped; what was done is in the attribute `result`")
        self.result = result

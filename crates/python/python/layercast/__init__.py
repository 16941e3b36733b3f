"""Layered multicast congestion control against TCP, simulated and measured; and files and live data over multicast.

One function for each command of `layercast`, and results that are tables in Arrow's memory format. A scenario is given
by name (`scenarios()`), as a path, as TOML text or as a `layercast.scenario.Scenario`. The numbers are those of the
command, digit by digit, for the same scenario, settings and seed.

Examples
--------
>>> import layercast
>>> result = layercast.run("thesis/simulation-2", replications=3)
>>> result.flows.to_polars()  # doctest: +SKIP
"""

from layercast import testing
from layercast._api import check, compare, expand, options, protocols, run, scenarios, sweep
from layercast._layercast import BUILD, VERSION, Mistake, OptionInfo, ProtocolInfo, Table
from layercast.errors import (
    ArgumentError,
    LayercastError,
    ProtocolError,
    RunError,
    ScenarioError,
    ScenarioWarning,
    Stopped,
    TaskError,
    TransferError,
    TransferWarning,
    VersionError,
)
from layercast.protocol import Protocol, Receiver, Source
from layercast.results import Comparison, Result, SweepResult
from layercast.stream import StreamReceiving, StreamSending, receive_stream, send_stream
from layercast.transfer import Receiving, Sending, receive, send

__version__ = VERSION

__all__ = [
    "ArgumentError",
    "BUILD",
    "Comparison",
    "LayercastError",
    "Mistake",
    "OptionInfo",
    "Protocol",
    "ProtocolError",
    "ProtocolInfo",
    "Receiver",
    "Receiving",
    "Result",
    "RunError",
    "ScenarioError",
    "ScenarioWarning",
    "Sending",
    "Source",
    "Stopped",
    "StreamReceiving",
    "StreamSending",
    "SweepResult",
    "Table",
    "TaskError",
    "TransferError",
    "TransferWarning",
    "VersionError",
    "check",
    "compare",
    "expand",
    "options",
    "protocols",
    "receive",
    "receive_stream",
    "run",
    "scenarios",
    "send",
    "send_stream",
    "sweep",
    "testing",
]

"""Values of Python as settings of the command, and what a scenario may be."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from layercast import _layercast
from layercast._table import Table
from layercast.errors import ScenarioError
from layercast.scenario import Scenario

Value: TypeAlias = Any
"""What a setting takes: a number, a bool, text such as `"5 s"`, a sequence or mapping of those, a table."""

Settings: TypeAlias = Mapping[str, Value] | Iterable[str] | None
"""`{"link.G2-R1.loss": 0.02}`, or `["link.G2-R1.loss=0.02"]` as for the command."""

ScenarioLike: TypeAlias = str | os.PathLike[str] | Scenario
"""A built-in scenario's name, a path, TOML text, or a scenario built of dataclasses."""

# Text that TOML would not take for anything else, so that it may stand as one types it in a shell: the digest of a
# scenario covers its settings as they are written.
_BARE = re.compile(r"(?!(true|false|inf|nan)$)[A-Za-z][A-Za-z0-9 _./*-]*|[0-9]+(\.[0-9]+)? ?[A-Za-zµ][A-Za-zµ/]*")

#: As many as the command takes.
MOST_THREADS = 1024

#: What errors call a scenario that has no file.
UNNAMED = "scenario"


def written(value: Value, bare: bool = True) -> str:
    """A value as it is written in TOML; text without quotes where that means the same."""
    if isinstance(value, str):
        return value if bare and _BARE.fullmatch(value) else json.dumps(value, ensure_ascii=False)
    if hasattr(value, "tolist"):  # NumPy's numbers, which are Python's too, and arrays
        return written(value.tolist(), bare)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Table):
        return written(value.to_dict())
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {written(inner, False)}" for key, inner in value.items()) + " }"
    if isinstance(value, Iterable):
        return "[" + ", ".join(written(inner, False) for inner in value) + "]"
    raise TypeError(f"a setting cannot be a {type(value).__name__}")


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)


def settings(given: Settings) -> list[str]:
    """Settings as the command takes them: `KEY=VALUE`."""
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    if isinstance(given, Mapping):
        return [f"{key}={written(value)}" for key, value in given.items()]
    return list(given)


def threads(jobs: int | None) -> int | None:
    """How many threads, if the command takes as many.

    Raises
    ------
    ScenarioError
        It does not.
    """
    if jobs is not None and not 1 <= jobs <= MOST_THREADS:
        raise ScenarioError(f"error: invalid value '{jobs}' for '--jobs <J>': {jobs} is not in 1..={MOST_THREADS}")
    return jobs


def ranges(given: Mapping[str, Value] | Iterable[str]) -> list[str]:
    """What a sweep varies as the command takes it: `KEY=V1,V2,...`; text is a range such as `1..128*2`."""
    if not isinstance(given, Mapping):
        return settings(given)
    flags = []
    for key, values in given.items():
        if not isinstance(values, str):
            each = values.tolist() if hasattr(values, "tolist") else values
            values = ",".join(written(value) for value in (each if isinstance(each, Iterable) else [each]))
        flags.append(f"{key}={values}")
    return flags


def resolve(scenario: ScenarioLike) -> tuple[str, str]:
    """The name and the text of a scenario.

    Raises
    ------
    ScenarioError
        There is neither a built-in scenario nor a file of that name.
    """
    if isinstance(scenario, Scenario):
        return UNNAMED, scenario.to_toml()
    if isinstance(scenario, str) and ("\n" in scenario or "=" in scenario):
        return UNNAMED, scenario
    return _layercast.load(os.fspath(scenario))


def command(verb: str, name: str, flags: Sequence[tuple[str, Any]]) -> str:
    """The command that gives the same: a flag for each value, quoted where it is a setting."""
    text = f"layercast {verb} {name}"
    for flag, value in flags:
        if value is None or value is False or value == []:
            continue
        for one in value if isinstance(value, list) else [value]:
            quoted = f"'{one}'" if isinstance(value, list) else one
            text += f" {flag}" if value is True else f" {flag} {quoted}"
    return text

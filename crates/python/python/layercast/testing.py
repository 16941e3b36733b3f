"""Checks of one's own protocol.

The rules are those of the contract between an endpoint and its host, and the check is the one that all built-in
protocols pass: random inputs in random order, to two twins, one of which is replaced by a copy half-way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from layercast import _layercast, _settings
from layercast.errors import LayercastError
from layercast.protocol import Protocol

__all__ = ["ContractError", "check"]

#: The rates of the layers alone in bit/s.
LAYER_RATES = (32e3, 32e3, 64e3, 128e3)


class ContractError(LayercastError, AssertionError):
    """A protocol breaks a rule of the contract; the text says which, for which endpoint and seed."""


def check(
    protocol: type[Protocol],
    *,
    options: Mapping[str, Any] | None = None,
    layer_rates: Sequence[float] = LAYER_RATES,
    cases: int = 50,
    operations: int = 300,
    seed: int = 1,
) -> None:
    """Checks that the source and the receiver of a protocol keep the contract with their host.

    Time passes, packets arrive, are lost, repeated, marked or made up, joins fail, demand changes, the application
    has no data and has data again. The rules: once an input is handled the deadline lies after now; channels are
    joined only when they are not held and left only when they are; twins that are given the same do the same; a
    source ends after its data; a stopped endpoint leaves its channels and asks for nothing more.

    Parameters
    ----------
    protocol : type
        The protocol.
    options : mapping, optional
        Options, as a scenario has them.
    layer_rates : sequence of float
        The rates of the layers alone in bit/s.
    cases, operations : int
        How many random sequences for each endpoint, and how long they are.
    seed : int
        The seed of the first one; the others follow.

    Raises
    ------
    ContractError
        A rule is broken.
    ProtocolError
        The protocol raised an exception.
    """
    given = [(name, _settings.written(value)) for name, value in (options or {}).items()]
    for case in range(seed, seed + cases):
        for role in ("source", "receiver"):
            wrong = _layercast.check_protocol(protocol.name, role, given, list(layer_rates), case, operations)
            if wrong is not None:
                raise ContractError(f"the {role} of `{protocol.name}`, seed {case}: {wrong}")

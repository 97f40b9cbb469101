"""Rows without impossible combinations, whatever model they are drawn from. Post-processing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import ParameterError
from holdfast.noise.source import Source
from holdfast.noise.uniform import integers
from holdfast.synth.constraints import Zeros, possible
from holdfast.synth.model import Model

Codes = NDArray[np.int64]
REDRAWS = 20
"""Rounds of drawing again what was impossible, before rows are changed."""
CHANGES = 200


def possible_rows(model: Model, rows: int, source: Source, constraints: Sequence[Zeros]) -> Codes:
    """So many rows of the model that break no constraint.

    Impossible rows are drawn again: what remains has the model's distribution given the constraints. Rows that
    stay impossible after that are changed in one column at a time, to a random cell.
    """
    domain = dict(model.domain)
    codes = np.asarray(model.sample(rows, source), dtype=np.int64)
    names = tuple(domain)
    if not constraints:
        return codes
    for _ in range(REDRAWS):
        bad = np.flatnonzero(~possible(codes, names, domain, constraints))
        if not bad.size:
            return codes
        codes[bad] = model.sample(bad.size, source)
    return _changed(codes, names, domain, constraints, source)


def _changed(
    codes: Codes,
    names: Sequence[str],
    domain: Mapping[str, int],
    constraints: Sequence[Zeros],
    source: Source,
) -> Codes:
    """A random walk of the impossible rows over the columns that the constraints name."""
    touched = sorted({name for constraint in constraints for name in constraint.columns}, key=names.index)
    for step in range(CHANGES * len(touched)):
        bad = np.flatnonzero(~possible(codes, names, domain, constraints))
        if not bad.size:
            return codes
        name = touched[step % len(touched)]
        codes[bad, names.index(name)] = integers(source, bound=domain[name], size=bad.size)
    raise ParameterError(
        "constraints must leave records that are found by changing a column at a time; none was found. Declare "
        "fewer impossible cells, or use a method that takes them into its model (method='adaptive')"
    )

"""Numbers inside their bins follow the declared law, for every spacing, whole or not, with digits or without."""

from __future__ import annotations

import math
import random
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.data import Numeric, Schema
from holdfast.errors import ParameterError
from holdfast.noise._source import Source
from holdfast.synth._rows.coded_rows import CodedRows, decode_rows, whole_bounds

ROWS = 20_000
QUANTILES = (np.arange(20_000) + 0.5) / 20_000


def drawn_column(draw: random.Random) -> Numeric:
    """A column of any kind of bins."""
    while True:
        with suppress(ParameterError):  # not every combination can be declared
            return _any_column(draw)


def _any_column(draw: random.Random) -> Numeric:
    spacing = draw.choice(["equal", "log", "edges"])
    integer = draw.random() < 0.5
    low = draw.choice([0.0, 1.0, 3.0, -50.0, -4000.0, -9.0])
    high = draw.choice([-2.0, 60.0, 1000.0, 250_000.0] if low < -5 else [60.0, 1000.0, 250_000.0])
    options: dict[str, Any] = {"integer": integer, "null": draw.choice(["midpoint", "category"])}
    if not integer and draw.random() < 0.6:
        options["decimals"] = draw.randrange(4)
    if spacing == "log":
        options["spacing"] = "log"
        if low <= 0:
            options["smallest"] = draw.choice([1.0, 1.5])
        options["bins"] = draw.randrange(3, 9)
    elif spacing == "equal":
        options["bins"] = draw.randrange(1, 12)
    else:
        inner = {
            round(low + (high - low) * draw.random() ** 3, draw.randrange(2))
            for _ in range(draw.randrange(6))
        }
        options["bins"] = [low, *sorted(inner - {low, high}), high]
    return Numeric("x", low, high, **options)


def law(column: Numeric, cell: int) -> tuple[Floats, Floats]:
    """The values of a cell and their probabilities, from the declaration: written here a second time."""
    left, right = column.edges[cell], column.edges[cell + 1]
    if column.integer:
        low, high = (int(bounds[cell]) for bounds in whole_bounds(column))
        values = np.arange(low, high + 1, dtype=np.float64)
        weights = np.ones(len(values))
        if column.spacing == "log" and (low > 0 or high < 0):
            weights = np.log((np.abs(values) + 0.5) / (np.abs(values) - 0.5))
        return values, weights / weights.sum()
    values = left + QUANTILES * (right - left)
    if column.spacing == "log" and left * right > 0:
        values = math.copysign(1.0, left) * np.exp(np.log(abs(left)) + QUANTILES * np.log(right / left))
    if column.decimals is not None:
        step = 10.0**-column.decimals
        first, last = math.ceil(left / step - 1e-9), math.ceil(right / step - 1e-9) - 1
        if first <= last:
            values = np.clip(np.round(values / step), first, last) * step
    return values, np.full(len(values), 1.0 / len(values))


def decoded(column: Numeric, codes: NDArray[np.int64], seed: int) -> Floats:
    schema = Schema([column])
    table = decode_rows(CodedRows(domain=schema.domain, codes=codes[:, None]), schema, Source(seed=seed))
    return np.asarray(table["x"].to_numpy(), dtype=np.float64)


@pytest.mark.parametrize("seed", range(40))
def test_every_law_is_the_declared_one(seed: int) -> None:
    draw = random.Random(seed)
    column = drawn_column(draw)
    cells = [cell for cell in range(len(column.edges) - 1) if law(column, cell)[0].size]
    codes = np.random.default_rng(seed + 1000).choice(cells, ROWS)
    values = decoded(column, codes, seed)
    for cell in cells:
        there, (wanted, weights) = values[codes == cell], law(column, cell)
        # A mean, a spread and a shape: a wrong law differs in one of them by many standard errors.
        middle = float(np.median(wanted))
        for statistic in (np.positive, np.square, lambda x, middle=middle: np.abs(x - middle)):
            mean = float(weights @ statistic(wanted))
            spread = math.sqrt(max(0.0, float(weights @ np.square(statistic(wanted))) - mean**2))
            error = abs(float(statistic(there).mean()) - mean)
            grain = 1e-3 * float(np.max(np.abs(statistic(wanted))))  # what digits and quantiles leave open
            assert error <= 5.5 * spread / math.sqrt(len(there)) + grain, (column, cell, mean)


@pytest.mark.parametrize("integer", [True, False])
@pytest.mark.parametrize(("low", "smallest"), [(1, None), (0, 1), (-1_000_000, 1)])
def test_means_of_amounts_are_kept_by_exact_counts(integer: bool, low: float, smallest: float | None) -> None:
    column = Numeric("x", low, 1_000_000, bins=6, spacing="log", smallest=smallest, integer=integer)
    amounts = np.exp(np.random.default_rng(1).uniform(0.0, math.log(1_000_000), 200_000))
    codes = np.searchsorted(column.edges[1:-1], np.floor(amounts + 0.5) if integer else amounts, side="right")
    assert decoded(column, codes.astype(np.int64), 2).mean() == pytest.approx(amounts.mean(), rel=0.01)

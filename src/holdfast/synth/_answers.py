"""Answers: proportions on the released rows, each with an interval for the table's own proportion."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import NormalDist
from typing import Any

import numpy as np

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast.errors import ParameterError
from holdfast.privacy._wording import bound_text, confidence_percent
from holdfast.synth._models.model import Measurement, NoisyCount
from holdfast.synth._rows.coded_rows import CodedRows
from holdfast.synth._workload import Workload
from holdfast.synth._workload.workload import Group, Marginal

#: What an interval can be based on.
SOURCES = ("certificate", "measurement", "none")
#: The shares that one of two noises may have in the variance of their sum: from nearly even to all of it.
VARIANCE_SHARES = np.linspace(0.501, 1.0 - 1e-9, 500)


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupAnswers:
    """The answers of one group: estimates with intervals from `low` to `high`; `source` says what these are based on.

    `certificate` intervals cover the error of the model, `measurement` intervals come from a noisy count of the
    very cells; both hold for each query with the stated confidence. `none` is an estimate without a claim.
    """

    group: Group
    estimates: Floats
    low: Floats
    high: Floats
    source: str


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """What the released rows say about a workload. Public: it costs nothing to ask.

    `Synthesizer.answer` makes it; `answers["age", "sex"]` is one group.

    Parameters
    ----------
    groups : tuple of GroupAnswers
        For each group the estimates, the ends of their intervals and what these rest on.
    confidence : float
        How sure each interval is.
    n_public : int, optional
        The declared number of rows that proportions are shares of, where the true one is private.
    rows_text : str
        Which of the table's rows proportions speak of, where users bring no more than so many; and what of the
        rest.

    Examples
    --------
    >>> Answers(groups=(), confidence=0.95).summary()
    "proportions with 95% intervals for the table's own"
    """

    groups: tuple[GroupAnswers, ...]
    confidence: float
    n_public: int | None = None
    """The declared number of rows that proportions are shares of, where the true one is private."""
    rows_text: str = ""
    """Which of the table's rows proportions speak of, where users bring no more than so many; and what of the rest."""

    def __len__(self) -> int:
        return sum(answer.estimates.size for answer in self.groups)

    def __getitem__(self, columns: Sequence[str]) -> GroupAnswers:
        wanted = tuple(columns)
        for answer in self.groups:
            if tuple(answer.group.columns) == wanted:
                return answer
        known = [answer.group.name for answer in self.groups]
        raise ParameterError(f"columns must be those of a group that was asked, got {wanted}; asked: {known}")

    def summary(self, *, most: int = 20) -> str:
        """A line for each group, `most` of them: how wide its intervals are, and what they rest on."""
        shares = "" if self.n_public is None else f", as shares of the declared n_public={self.n_public}"
        lines = [
            f"proportions with {confidence_percent(self.confidence)}% intervals for the table's own"
            f"{self.rows_text}{shares}"
        ]
        for answer in self.groups[:most]:
            width = float(np.mean(answer.high - answer.low) / 2)
            interval = (
                "no interval" if answer.source == "none" else f"+- {bound_text(width)} by {answer.source}"
            )
            lines.append(f"  {answer.group.name}: {answer.estimates.size} queries, {interval}")
        left = len(self.groups) - most
        return "\n".join([*lines, *([f"  and {left} groups more"] if left > 0 else [])])

    def to_columns(self, shape: Callable[[Sequence[str]], tuple[int, ...]]) -> dict[str, list[Any]]:
        """A long table: group, query, estimate, low, high and source; `shape` gives the cells of a joint count."""
        columns: dict[str, list[Any]] = {
            name: [] for name in ("group", "query", "estimate", "low", "high", "source")
        }
        for answer in self.groups:
            size = answer.estimates.size
            cells = shape(answer.group.columns)
            columns["group"] += [answer.group.name] * size
            columns["query"] += [answer.group.describe(index, cells) for index in range(size)]
            columns["source"] += [answer.source] * size
            for name, values in (("estimate", answer.estimates), ("low", answer.low), ("high", answer.high)):
                columns[name] += values.tolist()
        return columns


@dataclass(frozen=True, kw_only=True, eq=False)
class Intervals:
    """What intervals are computed from: bounds of certified groups, noisy counts, and the public number of rows."""

    alphas: Mapping[tuple[Any, ...], float]
    """The certified bound of each group, by its `identity`."""
    measured: Mapping[frozenset[str], Measurement]
    rows: int | None
    counted: NoisyCount | None = None
    """The noisy number of rows, where it is private and its noise has the same distribution as the measurements'."""
    quantile: float
    """The half width of an interval of the stated confidence, in standard deviations of the noise."""
    left_out: float = 0.0
    """An upper bound on the share of the table's rows that were left out, if intervals are about the whole table."""

    def of(self, group: Group, estimates: Floats) -> tuple[Floats, Floats, str]:
        """Low, high and source: of a measured query by its noise, of others by the certificate (soundness, 10, 23).

        With a share s of the rows left out, a proportion in [l, h] among the others is in [(1 - s) l, (1 - s) h + s].
        """
        low, high, source = self._of_kept_rows(group, estimates)
        return (1.0 - self.left_out) * low, (1.0 - self.left_out) * high + self.left_out, source

    def _of_kept_rows(self, group: Group, estimates: Floats) -> tuple[Floats, Floats, str]:
        measurement = self.measured.get(frozenset(group.columns)) if isinstance(group, Marginal) else None
        if measurement is not None and (self.rows or self.counted is not None):
            axes = [list(measurement.columns).index(name) for name in group.columns]
            return *self._of_counts(
                measurement, measurement.values.transpose(axes).reshape(-1)
            ), "measurement"
        alpha = self.alphas.get(identity(group))
        if alpha is None:
            return np.zeros_like(estimates), np.ones_like(estimates), "none"
        return np.clip(estimates - alpha, 0, 1), np.clip(estimates + alpha, 0, 1), "certificate"

    def _of_counts(self, measurement: Measurement, counts: Floats) -> tuple[Floats, Floats]:
        # Noise on counts is rounded to whole numbers, which adds half a record.
        if self.rows:
            middle, half = counts / self.rows, (self.quantile * measurement.noise_std + 0.5) / self.rows
            return np.clip(middle - half, 0, 1), np.clip(middle + half, 0, 1)
        assert self.counted is not None  # the caller has checked that there is a number of rows
        ends = [
            fieller_set(
                counts + more,
                self.counted.value,
                quantile=self.quantile,
                count_std=measurement.noise_std,
                rows_std=self.counted.noise_std,
            )
            for more in (-0.5, 0.5)
        ]
        return ends[0][0], ends[1][1]


def fieller_set(
    counts: Floats, rows: float, *, count_std: float, rows_std: float, quantile: float
) -> tuple[Floats, Floats]:
    """The proportions p in [0, 1] with (c - p n)^2 <= z^2 (s_c^2 + p^2 s_n^2): exact, for two independent noises.

    Fieller (1954). All of [0, 1] where n may be nothing but noise, since the set is then unbounded.

    >>> low, high = fieller_set(np.array([100.0]), 1000.0, count_std=10.0, rows_std=10.0, quantile=1.96)
    >>> round(float(low[0]), 4), round(float(high[0]), 4)
    (0.0803, 0.1197)
    """
    leading = rows**2 - (quantile * rows_std) ** 2
    if rows <= 0 or leading <= 0:
        return np.zeros_like(counts), np.ones_like(counts)
    root = quantile * np.sqrt((counts * rows_std) ** 2 + count_std**2 * leading)
    return np.clip((counts * rows - root) / leading, 0, 1), np.clip((counts * rows + root) / leading, 0, 1)


def identity(group: Group) -> tuple[Any, ...]:
    """A key that is equal for groups with the same queries: all fields but the weight; marginals without column order.

    >>> identity(Marginal(("a", "b"))) == identity(Marginal(("b", "a"), weight=2.0))
    True
    """
    if type(group) is Marginal:
        return ("Marginal", *sorted(group.columns))
    own = [getattr(group, field.name) for field in fields(group) if field.name not in ("columns", "weight")]
    parts = [value.tobytes() if isinstance(value, np.ndarray) else value for value in own]
    return (type(group).__name__, *group.columns, *parts)


def noise_quantile(confidence: float, *, pure: bool) -> float:
    """The half width, in standard deviations, of the central interval of the noise: Laplace if pure, else normal.

    >>> round(noise_quantile(0.95, pure=False), 3), round(noise_quantile(0.95, pure=True), 3)
    (1.96, 2.118)
    """
    failure = 1.0 - confidence
    return math.log(1 / failure) / math.sqrt(2) if pure else NormalDist().inv_cdf(1 - failure / 2)


def ratio_quantile(confidence: float, *, pure: bool) -> float:
    """The half width for any weighted sum of two such noises, in standard deviations of the sum.

    Normal noise stays normal. The sum of two Laplace noises whose variances are w and 1 - w has the tail
    (a^2 exp(-t/a) - b^2 exp(-t/b)) / (a^2 - b^2), where 2 a^2 = w and 2 b^2 = 1 - w; the worst w is taken.

    >>> ratio_quantile(0.95, pure=False) == noise_quantile(0.95, pure=False)
    True
    >>> ratio_quantile(0.95, pure=True) >= noise_quantile(0.95, pure=True)
    True
    """
    if not pure:
        return noise_quantile(confidence, pure=False)
    a, b = (np.sqrt(share / 2) for share in (VARIANCE_SHARES, 1 - VARIANCE_SHARES))
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        tail = (a**2 * np.exp(-middle / a) - b**2 * np.exp(-middle / b)) / (a**2 - b**2)
        low, high = (middle, high) if float(tail.max()) > 1.0 - confidence else (low, middle)
    # Between two shares of the grid the quantile changes by less than this factor.
    return max(high * (1 + 1e-4), noise_quantile(confidence, pure=True))


def answer(
    rows: CodedRows,
    workload: Workload,
    intervals: Intervals,
    *,
    confidence: float,
    n_public: int | None = None,
    rows_text: str = "",
) -> Answers:
    """The answers of every query of the workload on these rows, with intervals."""
    groups = []
    for group in workload.groups:
        estimates = rows.answers(group) / max(len(rows), 1)
        low, high, source = intervals.of(group, estimates)
        groups.append(GroupAnswers(group=group, estimates=estimates, low=low, high=high, source=source))
    return Answers(groups=tuple(groups), confidence=confidence, n_public=n_public, rows_text=rows_text)

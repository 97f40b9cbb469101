"""What a release is worth to those who use it: read from the release alone, whatever it holds.

A reader looks at a released value and either describes it or passes. A new kind of value is one class, one function
and one line in READERS. How well a model does on real records is another matter (`Accuracy`): it is un-noised, so
it is for the owner alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from holdfast._arguments import checked
from holdfast.dossier._interval_section import InferredUtility, inferred_utility
from holdfast.dossier._section import Audience, Section
from holdfast.dossier._shape_section import ADDITIVE_MODEL_FORMAT, AdditiveUtility, additive_utility
from holdfast.dossier._statistics_section import STATISTICS_FORMAT, StatisticsUtility, statistics_utility
from holdfast.errors import FormatError, require
from holdfast.release import Release

MOST_TABLE_ROWS = 60
"""Rows of a table on the page; the rest is in the release."""
_MODEL_FORMAT = "holdfast-linear-model/1"
_PIPELINE_FORMAT = "holdfast-pipeline/1"
_STEP_CONTENTS = {
    "holdfast-scaler/1": "means and spreads",
    "holdfast-pca/1": "mean and principal components",
}
_Z95 = 1.959964
UNNAMED_ESTIMATOR = "unnamed"
"""Stands for the estimator of a model that names none."""
_KNOWN_FORMATS = (
    _MODEL_FORMAT,
    ADDITIVE_MODEL_FORMAT,
    STATISTICS_FORMAT,
    _PIPELINE_FORMAT,
    *_STEP_CONTENTS,
    "holdfast-synthetic/1",
)
"""Formats of released values that a page describes."""


@dataclass(frozen=True, kw_only=True)
class Weight(Section):
    """One number of a linear model, and how far its noise reaches; None where the method does not know."""

    name: str
    weight: float
    reach: float | None


@dataclass(frozen=True, kw_only=True)
class ModelUtility(Section):
    """A linear model."""

    kind: Literal["model"] = "model"
    what: str
    predicts: tuple[str, ...]
    rows: tuple[Weight, ...]
    left_out: int
    no_intervals: str = ""
    """Why no intervals cover sampling error."""


@dataclass(frozen=True, kw_only=True)
class MarginalError(Section):
    """What noise does to one marginal: in a cell, in records, and in total variation, as a share of all records.

    A marginal that was measured several times is one row: `within` is for all measurements weighed together, as
    anybody can weigh them, and `worst` for the noisiest alone.
    """

    name: str
    cells: int
    within: float | None
    variation: float | None
    times: int = 1
    worst: float | None = None


@dataclass(frozen=True, kw_only=True)
class SyntheticUtility(Section):
    """A synthetic table, by the noisy marginals that it rests on."""

    kind: Literal["synthetic"] = "synthetic"
    what: str
    rows: tuple[MarginalError, ...]
    left_out: int


@dataclass(frozen=True, kw_only=True)
class TableSize(Section):
    """One released array."""

    name: str
    shape: str
    cells: int


@dataclass(frozen=True, kw_only=True)
class TablesUtility(Section):
    """Arrays of numbers under names."""

    kind: Literal["tables"] = "tables"
    what: str
    rows: tuple[TableSize, ...]
    left_out: int


@dataclass(frozen=True, kw_only=True)
class PlainUtility(Section):
    """Anything that is described by one sentence."""

    kind: Literal["table", "other"]
    what: str
    rows: tuple[str, ...] = ()
    left_out: int = 0


Utility: TypeAlias = (
    ModelUtility
    | InferredUtility
    | AdditiveUtility
    | SyntheticUtility
    | StatisticsUtility
    | TablesUtility
    | PlainUtility
)


@checked
@dataclass(frozen=True, kw_only=True)
class Accuracy(Section):
    """One score of one model on real records: the released model, the same without privacy, or a baseline.

    It is computed without noise, so it is internal.

    Parameters
    ----------
    model : str
        What was scored.
    score : float
        The score.
    rows : int
        On how many records.
    measure : str
        What the score is.

    Examples
    --------
    >>> Accuracy(model="majority class", score=0.76, rows=16281).audience
    'internal'
    """

    audience: ClassVar[Audience] = "internal"

    model: str
    score: float
    rows: int
    measure: str = "accuracy"

    def __post_init__(self) -> None:
        require(bool(self.model), "model", self.model, "a non-empty text")
        require(math.isfinite(self.score), "score", self.score, "a finite number")
        require(self.rows >= 1, "rows", self.rows, ">= 1")


def model_utility(value: Any) -> ModelUtility | InferredUtility | None:
    """A linear model: each weight with the interval that its privacy noise leaves, or sampling too."""
    if not isinstance(value, Mapping) or value.get("format") != _MODEL_FORMAT:
        return None
    if value["inference"] is not None:
        return inferred_utility(value, most_rows=MOST_TABLE_ROWS)
    rows = []
    classes = value["classes"] or ()
    is_multiclass = len(value["coef"]) > 1
    quantile = value["noise_quantile"]
    for place, (weights, constant) in enumerate(zip(value["coef"], value["intercept"], strict=True)):
        names = value["feature_names"] or [f"x{i}" for i in range(len(weights))]
        prefix = f"{classes[place]}: " if is_multiclass and len(classes) > place else ""
        for name, weight in zip(names, weights, strict=True):
            rows.append((f"{prefix}{name}", float(weight), _noise_reach(value["noise_std"], quantile)))
        rows.append(
            (f"{prefix}(intercept)", float(constant), _noise_reach(value["intercept_noise_std"], quantile))
        )
    if not all(
        math.isfinite(weight) and (reach is None or math.isfinite(reach)) for _, weight, reach in rows
    ):
        raise FormatError("a released weight, or its noise, is not a finite number; such a model has no page")
    largest_rows = sorted(rows, key=lambda row: -abs(row[1]))[:MOST_TABLE_ROWS]
    return ModelUtility(
        what=f"a linear model ({value['model']}) with {len(rows)} numbers",
        predicts=tuple(str(name) for name in classes),
        rows=tuple(
            Weight(name=name, weight=_five_digits(w), reach=None if r is None else _five_digits(r))
            for name, w, r in largest_rows
        ),
        left_out=len(rows) - len(largest_rows),
    )


def synthetic_utility(value: Any) -> SyntheticUtility | None:
    """Noisy tables that a synthetic table rests on: how far noise moves each of them."""
    stored = value.get("measurements") if isinstance(value, Mapping) else None
    if not isinstance(stored, Sequence | Mapping) or not stored:
        return None
    marginals = [
        entry for entry in (stored.values() if isinstance(stored, Mapping) else stored) if _is_marginal(entry)
    ]
    if not marginals:
        return None
    marginals_by_columns: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for marginal in marginals:
        marginals_by_columns.setdefault(tuple(sorted(str(name) for name in marginal["columns"])), []).append(
            marginal
        )
    # The worst first: whatever a page leaves out is no worse than what it shows.
    rows = sorted((_marginal_error(group) for group in marginals_by_columns.values()), key=_by_error)
    repeats_text = f", {len(marginals)} measurements in all" if len(marginals) > len(rows) else ""
    return SyntheticUtility(
        what=f"{_synthetic_table_text(value)} with the {len(rows)} noisy marginals it was made from{repeats_text}",
        rows=tuple(rows[:MOST_TABLE_ROWS]),
        left_out=max(0, len(rows) - MOST_TABLE_ROWS),
    )


def tables_utility(value: Any) -> TablesUtility | None:
    """Arrays of numbers under names."""
    if not isinstance(value, Mapping) or not value:
        return None
    if not all(isinstance(part, np.ndarray) for part in value.values()):
        return None
    rows = tuple(
        TableSize(name=str(name), shape=" x ".join(map(str, part.shape)) or "1", cells=int(part.size))
        for name, part in list(value.items())[:MOST_TABLE_ROWS]
    )
    cells = sum(int(part.size) for part in value.values())
    return TablesUtility(
        what=f"{len(value)} table{'s' * (len(value) > 1)} with {cells} noisy numbers in all",
        rows=rows,
        left_out=len(value) - len(rows),
    )


def table_utility(value: Any) -> PlainUtility | None:
    """A table of rows, or an array."""
    shape = getattr(value, "shape", None)
    if not isinstance(shape, tuple):
        return None
    size = " x ".join(map(str, shape)) or "1"
    names = getattr(value, "column_names", None)
    what = f"a table of {shape[0]} rows and {shape[1]} columns" if names else f"an array of {size} numbers"
    return PlainUtility(kind="table", what=what)


def step_utility(value: Any) -> PlainUtility | None:
    """A private step of a pipeline."""
    if not isinstance(value, Mapping) or value.get("format") not in _STEP_CONTENTS:
        return None
    return PlainUtility(
        kind="other", what=f"{_STEP_CONTENTS[value['format']]} of {int(value['columns'])} columns, with noise"
    )


UTILITY_READERS: tuple[Callable[[Any], Utility | None], ...] = (
    model_utility,
    additive_utility,
    step_utility,
    partial(statistics_utility, most_rows=MOST_TABLE_ROWS),
    synthetic_utility,
    tables_utility,
    table_utility,
)
"""From the most specific; the first that knows a value describes it."""


def utility_of(release: Release[Any]) -> Utility:
    """What was released and how far off it may be, from released values only."""
    value = release.value
    _require_known_format(value)
    if isinstance(value, Mapping) and value.get("format") == _PIPELINE_FORMAT:
        steps = value.get("steps")
        if not isinstance(steps, Sequence) or not steps:
            raise FormatError("the released value begins like a pipeline, and is none")
        value = steps[-1]  # the model; the steps before it make its columns
        _require_known_format(value)
    for reader in UTILITY_READERS:
        try:
            section = reader(value)
        except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, FormatError):
                raise
            raise FormatError(
                "the released value begins like one that holdfast knows, and is none"
            ) from error
        if section is not None:
            if isinstance(section, ModelUtility | InferredUtility):
                return _with_interval_reason(section, release, value)
            return section
    return PlainUtility(kind="other", what=f"a {type(value).__name__}")


def _require_known_format(value: Any) -> None:
    """Refuse by its name a format of holdfast's own that this version does not read."""
    format_name = value.get("format") if isinstance(value, Mapping) else None
    if (
        isinstance(format_name, str)
        and format_name.startswith("holdfast-")
        and format_name not in _KNOWN_FORMATS
    ):
        raise FormatError(
            f"the released value has the format {format_name[:60]!r}, this holdfast reads {', '.join(_KNOWN_FORMATS)}"
        )


def _with_interval_reason(
    section: ModelUtility | InferredUtility, release: Release[Any], value: Mapping[str, Any]
) -> Utility:
    """Intervals, or why there are none, in the words of the estimator's `conf_int`."""
    from holdfast.learn._estimators import estimator_named
    from holdfast.learn._estimators.intervals import SEVERAL_ROWS, WithIntervals, why_no_intervals

    max_rows = release.guarantee.unit.max_rows
    if isinstance(section, InferredUtility):
        if max_rows == 1:
            return section
        rows_without_intervals = tuple(
            replace(row, reach=None, low=None, high=None, p=None) for row in section.rows
        )
        return replace(section, refused=SEVERAL_ROWS, rests_on="", rows=rows_without_intervals)
    name = str(value.get("model", UNNAMED_ESTIMATOR))
    estimator = estimator_named(name)
    reason = why_no_intervals(
        name,
        release.provenance.method,
        gives=estimator.intervals_by
        if estimator is not None and issubclass(estimator, WithIntervals)
        else "",
        scores=len(value["coef"]),
        max_rows=max_rows,
    )
    return replace(section, no_intervals=reason)


def _noise_reach(std: Any, quantile: Any) -> float | None:
    return None if std is None or quantile is None else float(std) * float(quantile)


def _is_marginal(entry: Any) -> bool:
    return isinstance(entry, Mapping) and {"columns", "values", "noise_std"} <= set(entry)


def _marginal_error(measurements: Sequence[Mapping[str, Any]]) -> MarginalError:
    """Noise of one marginal: per cell, and summed over cells as a share of all records."""
    deviations = np.array([float(marginal["noise_std"]) for marginal in measurements])
    totals = np.array([float(np.sum(np.asarray(marginal["values"], float))) for marginal in measurements])
    exact = deviations == 0.0
    precisions = np.where(exact, 1.0, 0.0) if exact.any() else deviations**-2.0
    # Weighed by their precision, independent measurements have this deviation together.
    std = 0.0 if exact.any() else float(np.sum(precisions)) ** -0.5
    total, cells = (
        float(np.sum(precisions * totals) / np.sum(precisions)),
        int(np.size(measurements[0]["values"])),
    )
    # E|noise| = std sqrt(2 / pi) for a Gaussian; the total variation is half the sum over cells.
    variation = 0.5 * cells * std * math.sqrt(2 / math.pi) / total if total > 0 else None
    return MarginalError(
        name=" x ".join(str(name) for name in measurements[0]["columns"]) or "all records",
        cells=cells,
        within=_five_digits(_Z95 * std),
        variation=None if variation is None else _five_digits(min(1.0, variation)),
        times=len(measurements),
        worst=_five_digits(_Z95 * float(np.max(deviations))),
    )


def _by_error(row: MarginalError) -> tuple[float, float, int]:
    return (-math.inf if row.variation is None else -row.variation, -(row.within or 0.0), -row.cells)


def _synthetic_table_text(value: Mapping[str, Any]) -> str:
    for part in value.values():
        shape = getattr(part, "shape", None)
        if hasattr(part, "column_names") and isinstance(shape, tuple):
            return f"a synthetic table of {shape[0]} rows and {shape[1]} columns"
    return "a synthetic table"


def _five_digits(value: float) -> float:
    return float(f"{value:.5g}")

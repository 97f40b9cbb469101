"""The two ways to evaluate synthetic rows: against real ones (internal), or against what was released (public)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast._progress import progress
from holdfast.data._schema import Numeric, Schema
from holdfast.errors import ParameterError, require
from holdfast.release import Release
from holdfast.synth._contents import SyntheticContents
from holdfast.synth._evaluation.against_release import released_evidence
from holdfast.synth._evaluation.associations import Associations, associations
from holdfast.synth._evaluation.compared_rows import (
    ComparedRows,
    as_synthetic,
    at_levels_of,
    plain_schema,
    read_compared,
)
from holdfast.synth._evaluation.distances import closest_records, train_discriminators
from holdfast.synth._evaluation.marginals import marginal_errors, moved_columns
from holdfast.synth._evaluation.prediction import predictions
from holdfast.synth._evaluation.real_comparison import RealComparison
from holdfast.synth._evaluation.report import EvaluationReport
from holdfast.synth._evaluation.subgroups import subgroups

LEAST_ROWS = 4
FOLLOWING_CORRELATION, LOST_CORRELATION, MOST_ORDERS = 0.9, 0.2, 3
"""A note is made if two columns have at least this correlation in the real rows and at least so much less in the
synthetic ones; and for how many pairs at most."""
TITLE = "Synthetic rows evaluated"


def evaluate_against_real(
    synthetic: Any,
    real: Any,
    schema: Schema,
    *,
    target: str | None = None,
    by: Sequence[str] = (),
    holdout: Any = None,
    columns: Sequence[str] | None = None,
    release: Release[Any] | None = None,
    title: str = TITLE,
) -> EvaluationReport:
    """Compare synthetic with real rows by every measure. NOT PRIVATE: exact functions of the real rows.

    `holdout` are real rows that the release did not see: they show what it learnt about single rows. `release` adds
    what its own noisy tables say; the report stays internal.

    >>> from holdfast.data import Categorical, Numeric
    >>> schema = Schema([Numeric("age", 0, 80, bins=4), Categorical("ill", ["no", "yes"])])
    >>> real = {"age": [10, 30, 50, 70] * 25, "ill": ["no", "no", "yes", "yes"] * 25}
    >>> report = evaluate_against_real(real, real, schema, by=["ill"])
    >>> report.audience, report.against_real.two_way.average
    ('internal', 0.0)
    """
    declared = plain_schema(schema, columns)
    _require_columns(declared, target, by)
    synthetic_schema = at_levels_of(synthetic, as_synthetic(synthetic, declared), name="synthetic")
    declared = declared.at_levels({name: synthetic_schema[name].level or 0 for name in declared.open_levels})  # type: ignore[union-attr]
    ours = read_compared(real, declared, name="real")
    theirs = read_compared(synthetic, synthetic_schema, name="synthetic")
    fresh = None if holdout is None else read_compared(holdout, declared, name="holdout")
    for name, rows in (("real", ours), ("synthetic", theirs), ("holdout", fresh)):
        if rows is not None:
            require(rows.rows >= LEAST_ROWS, f"{name} rows", rows.rows, f">= {LEAST_ROWS}")
    with progress(desc="evaluating", total=4) as bar:
        predicted = None if target is None else predictions(ours, theirs, target)
        bar.update()
        strengths = associations(ours.pair, theirs.pair, declared, declared.names)
        bar.update()
        near, apart = closest_records(ours, theirs, fresh), train_discriminators(ours, theirs)
        bar.update()
        comparison = RealComparison(
            rows=ours.rows,
            synthetic_rows=theirs.rows,
            sampled=len(ours.codes),
            one_way=marginal_errors(ours, theirs, width=1),
            two_way=marginal_errors(ours, theirs, width=2),
            moved=moved_columns(ours, theirs),
            associations=strengths,
            closest=near,
            told_apart=apart,
            predictions=predicted,
            subgroups=tuple(subgroups(ours, theirs, name, predicted) for name in by),
            notes=(*_notes(ours, "real"), *_notes(theirs, "synthetic"), *_lost_orders(strengths, declared)),
        )
        bar.update()
    # The noisy tables of a release are about its own rows; other rows are compared with the real ones only.
    evidence = None
    if release is not None:
        released_columns = SyntheticContents.of_value(release.value).table.column_names
        evidence = released_evidence(release, by=[name for name in by if name in released_columns])
    return EvaluationReport(title=title, against_real=comparison, against_release=evidence)


def evaluate_against_release(
    release: Release[Any],
    *,
    synthetic: Any = None,
    by: Sequence[str] = (),
    rows_are_public: bool = False,
    title: str = TITLE,
) -> EvaluationReport:
    """What the noisy tables and the certificate of a release say about its rows. Public: nothing private is read.

    `synthetic`, where given, must be the rows of the release, unless `rows_are_public` declares that the report on
    other rows may be published.
    """
    contents = SyntheticContents.of_value(release.value)
    names = tuple(contents.table.column_names)
    rows = (
        None
        if synthetic is None
        else read_compared(
            synthetic, as_synthetic(synthetic, plain_schema(contents.schema, names)), name="synthetic"
        )
    )
    evidence = released_evidence(release, rows=rows, by=by, rows_are_public=rows_are_public)
    return EvaluationReport(title=title, against_release=evidence)


def _require_columns(schema: Schema, target: str | None, by: Sequence[str]) -> None:
    """Refuse a target or groups that the schema does not declare, before any row is read."""
    if isinstance(by, str):
        raise ParameterError(f"by must be a list of columns, got by={by!r}; write by=[{by!r}]")
    for parameter, name in [("target", target)] * (target is not None) + [("by", column) for column in by]:
        require(name in schema.names, parameter, name, f"one of the columns {list(schema.names)}")


def _lost_orders(strengths: Associations, schema: Schema) -> list[str]:
    """Notes on dates or whole numbers that are strongly correlated in the real rows and not in the synthetic ones."""
    ordered = [
        (a, b, ours, theirs)
        for a, b, ours, theirs in strengths.largest(len(strengths.names))
        if ours >= FOLLOWING_CORRELATION
        and theirs <= FOLLOWING_CORRELATION - LOST_CORRELATION
        and all(isinstance(schema[name], Numeric) and schema[name].integer for name in (a, b))  # type: ignore[union-attr]
    ]
    return [
        f"{a} and {b} follow each other (correlation {ours:.2f}) and hardly do here ({theirs:.2f}): their pairs of "
        "cells are too many for the noise. If one is never below the other, declare it (Zeros.in_order, or in_order "
        "in the file of --impossible), which costs nothing; if the difference matters, let it be a column instead"
        for a, b, ours, theirs in ordered[:MOST_ORDERS]
    ]


def _notes(rows: ComparedRows, name: str) -> list[str]:
    notes = []
    for column, wrong in rows.undeclared.items():
        notes.append(
            f"{wrong:,} of {rows.rows:,} {name} values of {column} are not what the schema declares; they were read as "
            "it says of such values"
        )
    if len(rows.codes) < rows.rows:
        notes.append(
            f"predictions and distances rest on {len(rows.codes):,} of the {rows.rows:,} {name} rows"
        )
    return notes

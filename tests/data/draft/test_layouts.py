"""Drafts of public file layouts are held against the truth about each column, by class."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.data import Categorical, DateTime, Hierarchy, Identifier, Numeric
from holdfast.data._draft import Draft, draft_of
from holdfast.data._draft.check import check_table
from tests.layouts import HELD_OUT, LAYOUTS, Layout, Truth

ALL = {**LAYOUTS, **HELD_OUT}


def class_of(draft: Draft, name: str) -> set[str]:
    """The classes that a drafted column is of."""
    if name in draft.left_out:
        return {"text"} if "text" in draft.left_out[name] else {"empty"}
    column = next(one for one in draft.schema.columns if one.name == name)
    kinds: tuple[tuple[type, set[str]], ...] = (
        (Identifier, {"id"}),
        (Hierarchy, {"hierarchy", "code"}),
        (Categorical, {"category", "code"}),
        (DateTime, {"date"}),
        (Numeric, {"number"}),
    )
    return next(classes for kind, classes in kinds if isinstance(column, kind))


def wrong(draft: Draft, layout: Layout) -> list[str]:
    """What the draft takes for something else, or where its bounds and marks are those of no value."""
    found: list[str] = []
    for name, said in layout.truth.items():
        truth, classes = Truth.of(said), class_of(draft, name)
        if not classes & set(truth.classes):
            found.append(f"{name}: {'|'.join(truth.classes)} is drafted as {'|'.join(sorted(classes))}")
            continue
        if "number" in classes:
            column = draft.schema[name]
            assert isinstance(column, Numeric)
            marked = {f"{one:g}" if isinstance(one, float) else one for one in column.nulls}
            if not set(truth.nulls) <= marked:
                found.append(f"{name}: nulls {sorted(truth.nulls)} are drafted as {sorted(marked)}")
            values = [one for one in layout.columns[name] if one not in ("", *truth.nulls)]
            if truth.low is not None and truth.high is not None:
                wide = max(5.0, 0.15 * (truth.high - truth.low))
                if not (truth.low - wide <= column.low and column.high <= truth.high + wide):
                    found.append(f"{name}: bounds {column.low:g} to {column.high:g}")
            assert values
        elif "category" in classes and truth.nulls:
            column = draft.schema[name]
            assert isinstance(column, Categorical)
            if not set(truth.nulls) <= {*map(str, column.nulls), *column.labels}:
                found.append(f"{name}: nulls {truth.nulls} are neither marks nor categories")
    for name, value in layout.csv.items():
        if getattr(draft.schema.csv, name) != value:
            found.append(f"csv: {name} is drafted as {getattr(draft.schema.csv, name)!r}")
    return found


@pytest.mark.filterwarnings("ignore:the schema is a draft")
@pytest.mark.parametrize("name", ALL)
def test_a_draft_is_what_the_documentation_says(name: str, tmp_path: Path) -> None:
    """And what the fit reads of the file is what the draft read of it."""
    layout = ALL[name]()
    path = layout.write(tmp_path / f"{name}.csv")
    draft = draft_of(str(path))
    assert wrong(draft, layout) == []
    findings = check_table(str(path), draft.schema).findings
    others = [finding for finding in findings if not finding.startswith("the unit is not confirmed")]
    many = [one for one in others if "is in no category" not in one and "are in no category" not in one]
    assert [one for one in many if "max_rows" not in one and "repeats" not in one] == []

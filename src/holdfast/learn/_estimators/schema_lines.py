"""The lines of a model's summary about its schema: assumptions, classes, and levels of hierarchies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.data._schema import Hierarchy, Schema
from holdfast.learn._rows.counted_rows import CountedRows
from holdfast.release import Release


def schema_lines(schema: Mapping[str, Any] | None) -> list[str]:
    r"""Lines that say what was taken from the data, and which columns are no features.

    >>> from holdfast.data import Identifier, Numeric
    >>> schema = Schema([Numeric("age", 0, 100, taken_from_data=True), Identifier("pid")])
    >>> print("\n".join(schema_lines(schema.to_dict())))
    assumes: bounds of age were taken from the data: the promise does not cover what they show
    no features, because they are identifiers: pid
    """
    if schema is None:
        return []
    declared = Schema.from_dict(schema)
    assumed = [f"assumes: {assumption.text}" for assumption in declared.assumptions]
    return assumed + ([declared.no_features] if declared.identifiers else [])


def fact_lines(classes: Sequence[Any] | None, counted: CountedRows | None) -> list[str]:
    """Lines that say for which of two classes scores speak, and which rows n counts.

    >>> fact_lines(["ill", "well"], None)
    ["positive class: 'well'; what is above 0 among scores, coefficients and shapes speaks for it, against 'ill'"]
    """
    lines = []
    if classes is not None and len(classes) == 2:
        first, positive = classes
        lines.append(
            f"positive class: {positive!r}; what is above 0 among scores, coefficients and shapes speaks for it, "
            f"against {first!r}"
        )
    return lines if counted is None else [*lines, counted.summary()]


def level_lines(schema: Mapping[str, Any] | None, release: Release[Any] | None) -> str:
    """Lines that say at which levels a model uses the hierarchies of its table, and who chose them."""
    declared = Schema.from_dict(schema).columns if schema is not None else ()
    chosen = {} if release is None else release.provenance.parameters.get("levels") or {}
    lines = []
    for column in declared:
        if not isinstance(column, Hierarchy):
            continue
        sizes = [len(set(names)) for names in column.steps]
        level = column.level or 0
        line = f"column {column.name!r} is taken at level {level} with {sizes[level]:,} names"
        if column.name in chosen:
            line += (
                f" of {', '.join(f'{size:,}' for size in sizes)}: the finest whose cells stand above the noise, by the "
                f"public number of rows and the budget; Schema.at_levels({{{column.name!r}: 0}}) or --level "
                f"{column.name}=0 names another"
            )
        lines.append(line)
    return "\n".join(lines)

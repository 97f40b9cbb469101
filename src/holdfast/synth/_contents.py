"""SyntheticContents: everything that is released with a synthetic table, as files store it and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from holdfast._stored_fields import require_fields, require_format
from holdfast.data._arrow_columns import arrow_column
from holdfast.data._batch import encode_batch
from holdfast.data._schema import Schema
from holdfast.errors import FormatError
from holdfast.privacy._wording import confidence_text, count_text
from holdfast.release import Release
from holdfast.synth._models.model import Measurement, NoisyCount
from holdfast.synth._rows.coded_rows import CodedRows
from holdfast.synth._rows.impossible_rows import Zeros
from holdfast.synth._workload import Workload
from holdfast.synth._workload.one_layer import OneLayer
from holdfast.synth._workload.query_classes import Conjunctions, Predicates, Ranges, Thresholds
from holdfast.synth._workload.workload import Group, Marginal

FORMAT = "holdfast-synthetic/1"
_FIELDS = (
    "format",
    "rows",
    "measurements",
    "workload",
    "certified",
    "schema",
    "public_rows",
    "confidence",
    "choice",
    "counted",
    "in_order",
)
#: The most noisy tables, and the most groups, that a summary lists one by one.
MOST_LINES = 12


@dataclass(frozen=True, kw_only=True, eq=False)
class SyntheticContents:
    """The rows, the noisy counts they were made from, and the queries of the workload."""

    schema: Schema
    table: Any
    """The rows as an Arrow table."""
    measurements: tuple[Measurement, ...]
    workload: Workload
    certified: tuple[Group, ...]
    """The queries that the certificate is about."""
    public_rows: int | None
    confidence: float
    choice: str | None = None
    counted: NoisyCount | None = None
    """The noisy number of rows, where the true one is private and the certificate paid for it."""
    constraints: tuple[Zeros, ...] = ()
    """Constraints that every row meets. A file stores those on columns in order; rows drawn from a loaded release are
    among its own rows, which meet the others."""

    def value(self) -> dict[str, Any]:
        """The value of a release, as JSON and arrays; queries are stored with all their fields."""
        return {
            "format": FORMAT,
            "rows": self.table,
            "measurements": [
                {
                    "columns": list(measurement.columns),
                    "values": measurement.values,
                    "noise_std": measurement.noise_std,
                }
                for measurement in self.measurements
            ],
            "workload": _groups_json(self.workload.groups),
            "certified": _groups_json(self.certified),
            "schema": self.schema.to_dict(),
            "public_rows": self.public_rows,
            "confidence": self.confidence,
            "choice": self.choice,
            "counted": None if self.counted is None else asdict(self.counted),
            "in_order": [
                {"columns": list(zeros.columns), "gap": list(zeros.gap)}
                for zeros in self.constraints
                if zeros.gap is not None
            ],
        }

    @classmethod
    def of_value(cls, value: Any) -> SyntheticContents:
        """The contents of a release's value; `FormatError` if it is not one of a synthetic table."""
        require_format("synthetic table", value, FORMAT)
        value = require_fields("synthetic table", value, _FIELDS)
        counted = value["counted"]
        try:
            schema = Schema.from_dict(value["schema"])
            return cls(
                schema=schema,
                table=value["rows"],
                measurements=tuple(Measurement(**stored) for stored in value["measurements"]),
                workload=_workload(value["workload"]),
                certified=tuple(_groups(value["certified"])),
                public_rows=value["public_rows"],
                confidence=float(value["confidence"]),
                choice=value["choice"],
                counted=None if counted is None else NoisyCount(**counted),
                constraints=tuple(
                    Zeros.in_order(schema, *stored["columns"], least=stored["gap"][0], most=stored["gap"][1])
                    for stored in value["in_order"]
                ),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError("a field of the synthetic table's release is missing or wrong") from error

    def coded_rows(self) -> CodedRows:
        """The rows as cell codes, encoded by the schema."""
        names = tuple(self.table.column_names)
        schema = self.schema.select(*names)
        plain = Schema([schema[name] for name in names])
        columns = {name: arrow_column(self.table[name]) for name in names}
        batch = encode_batch(plain, columns, self.table.num_rows)
        codes = [batch.codes(name) for name in names]
        return CodedRows(domain={name: schema[name].cells for name in names}, codes=np.stack(codes, axis=1))

    def best_measurements(self) -> dict[frozenset[str], Measurement]:
        """For each set of columns that was measured, the measurement with the least noise."""
        best: dict[frozenset[str], Measurement] = {}
        for measurement in sorted(
            self.measurements, key=lambda measurement: measurement.noise_std, reverse=True
        ):
            best[frozenset(measurement.columns)] = measurement
        return best


KINDS: dict[str, type[Group]] = {
    kind.__name__: kind for kind in (Marginal, Conjunctions, Predicates, Thresholds, Ranges, OneLayer)
}
"""The query classes that a release stores completely, so that their queries can be answered again."""


def _groups_json(groups: Sequence[Group]) -> list[dict[str, Any]]:
    return [
        {"kind": type(group).__name__, "columns": list(group.columns), "weight": group.weight}
        | {
            field.name: getattr(group, field.name)
            for field in fields(group)
            if field.name not in ("columns", "weight")
        }
        for group in groups
    ]


def _groups(stored: Sequence[Mapping[str, Any]]) -> list[Group]:
    """The stored groups of known query classes; groups of other classes cannot be restored."""
    return [_group(entry) for entry in stored if entry["kind"] in KINDS]


def _group(stored: Mapping[str, Any]) -> Group:
    given = {name: value for name, value in stored.items() if name != "kind"}
    return KINDS[stored["kind"]](
        **given | {"columns": tuple(given["columns"]), "weight": float(given["weight"])}
    )


def _workload(stored: Sequence[Mapping[str, Any]]) -> Workload:
    # Where no group can be restored, the marginals of their columns, about which nothing is certified.
    return Workload(
        _groups(stored) or [Marginal(tuple(entry["columns"]), float(entry["weight"])) for entry in stored]
    )


def describe(contents: SyntheticContents, release: Release[Any], *, method: str) -> str:
    """The text of `Synthesizer.summary`: rows, noisy counts, certificates, guarantee and provenance."""
    table, workload = contents.table, contents.workload
    lines = [
        *release.first_lines,
        f"{table.num_rows:,} synthetic rows of {table.num_columns} columns by method {method!r}, for "
        f"{count_text(len(workload.groups), 'group')} of {count_text(workload.size(contents.schema), 'query')}",
    ]
    lines += [f"assumes: {assumption.text}" for assumption in contents.schema.assumptions]
    lines += [f"not synthesised: {', '.join(contents.schema.identifiers)} (identifiers)"] * bool(
        contents.schema.identifiers
    )
    lines += [] if contents.choice is None else [contents.choice]
    lines += [*_measurements(contents), *_claims(release)]
    return "\n".join([*lines, release.guarantee.summary(), release.provenance.summary()])


def _measurements(contents: SyntheticContents) -> list[str]:
    measured = contents.measurements
    if not measured:
        return ["no counts were measured: the method releases records or choices, not tables"]
    lines = [f"made from {count_text(len(measured), 'noisy table')} of counts (released with the rows):"]
    shown = sorted(measured, key=lambda measurement: measurement.noise_std)[:MOST_LINES]
    lines += [
        f"  {' x '.join(measurement.columns) or 'total'}: {count_text(measurement.values.size, 'cell')}, "
        f"noise of standard deviation {measurement.noise_std:.4g} records in each"
        for measurement in shown
    ]
    left = len(measured) - len(shown)
    return [*lines, *([f"  and {left} more"] if left else [])]


def _claims(release: Release[Any]) -> list[str]:
    claims = release.certificates
    if not claims:
        return ["no certificate: nothing is claimed about errors"]
    shown = [claim.summary() for claim in claims if "columns" not in claim.details]
    groups = sorted((claim for claim in claims if "columns" in claim.details), key=lambda claim: claim.alpha)
    if groups:
        shown.append(
            f"for {len(groups)} groups less can be claimed, all of them with confidence "
            f"{confidence_text(groups[0].confidence)}:"
        )
        shown += [f"  {claim.query_class}: at most {claim.amount()}" for claim in groups[:MOST_LINES]]
        shown += [f"  and {len(groups) - MOST_LINES} more"] * (len(groups) > MOST_LINES)
    return shown

"""A synthetic table's release in words, for whoever has to decide what it is good for."""

from __future__ import annotations

from typing import Any

from holdfast.release import Release
from holdfast.synth.released import Released

MOST_LINES = 12


def describe(released: Released, release: Release[Any], *, method: str) -> str:
    """What was made, from which noisy counts, how wrong it can be, and what is promised."""
    table, workload = released.table, released.workload
    lines = [
        f"{table.num_rows:,} synthetic rows of {table.num_columns} columns by method {method!r}, for "
        f"{len(workload.groups):,} groups of {workload.size(released.schema):,} queries"
    ]
    lines += [] if released.choice is None else [released.choice]
    lines += [*_measurements(released), *_claims(release)]
    first = [] if release.private else ["NOT PRIVATE: drawn from a seed; with secure noise it would satisfy"]
    return "\n".join([*lines, *first, release.guarantee.summary(), release.provenance.summary()])


def _measurements(released: Released) -> list[str]:
    measured = released.measurements
    if not measured:
        return ["no counts were measured: the method releases records or choices, not tables"]
    lines = [f"made from {len(measured)} noisy tables of counts (released with the rows):"]
    shown = sorted(measured, key=lambda one: one.noise_std)[:MOST_LINES]
    lines += [
        f"  {' x '.join(one.columns) or 'total'}: {one.values.size:,} cells, noise of standard deviation "
        f"{one.noise_std:.4g} records in each"
        for one in shown
    ]
    left = len(measured) - len(shown)
    return [*lines, *([f"  and {left} more"] if left else [])]


def _claims(release: Release[Any]) -> list[str]:
    claims = release.certificates
    if not claims:
        return ["no certificate: nothing is claimed about errors (certificate_share=0)"]
    shown = [claim.summary() for claim in claims if "columns" not in claim.details]
    groups = sorted((claim for claim in claims if "columns" in claim.details), key=lambda claim: claim.alpha)
    if groups:
        shown.append(
            f"for {len(groups)} groups less can be claimed, all of them with confidence {groups[0].confidence:g}:"
        )
        shown += [f"  {claim.query_class}: at most {claim.alpha:.4g}" for claim in groups[:MOST_LINES]]
        shown += [f"  and {len(groups) - MOST_LINES} more"] * (len(groups) > MOST_LINES)
    return shown

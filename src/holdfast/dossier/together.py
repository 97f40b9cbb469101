"""The promise of several releases about the same people, taken together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast.privacy.guarantee import Guarantee
from holdfast.release import Release


def together(releases: Sequence[Release[Any]]) -> Guarantee:
    """One guarantee for all of them; `AdjacencyError` where they speak of different neighbours or units.

    A release of a ledger's account promises the limit of that account (or of its share), which covers every
    entry charged to it. So a release whose entries are among those of another one of the same account adds
    nothing; all others compose.
    """
    kept: list[Release[Any]] = []
    for one in releases:
        if any(_covers(other, one) for other in kept):
            continue
        kept = [*(other for other in kept if not _covers(one, other)), one]
    total = kept[0].guarantee
    for one in kept[1:]:
        total = total.compose(one.guarantee)
    return total.assuming(*(text for one in releases for text in one.guarantee.assumptions))


def _covers(wide: Release[Any], narrow: Release[Any]) -> bool:
    """Whether the first one's promise was charged with everything that the second one saw."""
    made, other = wide.provenance, narrow.provenance
    return (
        bool(made.account)
        and made.account == other.account
        and bool(other.entries)
        and set(other.entries) <= set(made.entries)
        and (wide.guarantee.adjacency, wide.guarantee.unit)
        == (narrow.guarantee.adjacency, narrow.guarantee.unit)
    )

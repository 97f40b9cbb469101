"""Comparison: things side by side in one table; releases, from what they say of themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast._arguments import checked
from holdfast.dossier._promise import DELTAS, promise
from holdfast.dossier._record import release_facts
from holdfast.dossier._section import visible
from holdfast.dossier._utility import ModelUtility, Utility
from holdfast.errors import require
from holdfast.privacy._wording import epsilon_text
from holdfast.release import Release

_MOST_WEIGHTS = 40
_MOST_LETTERS = 48


@checked
@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A table with one column per thing compared; `notes` say what keeps the columns apart.

    Parameters
    ----------
    title : str
        What is compared.
    names : tuple of str
        The names of the columns.
    rows : tuple
        A pair for each row: its label, and the texts of its cells, one per column.
    notes : tuple of str
        What a reader has to know before comparing.
    audience : str
        'public', or 'internal' where something in it was computed without noise.

    Examples
    --------
    >>> print(Comparison(title="two", names=("A", "B"), rows=(("noise", ("secure", "seeded")),)).summary())
                A       B
    noise  secure  seeded
    """

    title: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    notes: tuple[str, ...] = ()
    audience: str = "public"

    def __post_init__(self) -> None:
        for label, cells in self.rows:
            require(len(cells) == len(self.names), label, len(cells), "one cell per name")

    def summary(self) -> str:
        """A fixed-width table, and the notes; long texts are cut here and whole on the page."""
        shown = [(label, [_cut(cell) for cell in cells]) for label, cells in self.rows]
        first = max((len(label) for label, _ in shown), default=0)
        widths = [
            max([len(name), *(len(cells[place]) for _, cells in shown)])
            for place, name in enumerate(self.names)
        ]
        lines = [" " * first + "  " + "  ".join(n.rjust(w) for n, w in zip(self.names, widths, strict=True))]
        for label, cells in shown:
            lines.append(
                label.ljust(first) + "  " + "  ".join(c.rjust(w) for c, w in zip(cells, widths, strict=True))
            )
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "title": self.title,
            "audience": self.audience,
            "names": list(self.names),
            "rows": [{"what": label, "cells": list(cells)} for label, cells in self.rows],
            "notes": list(self.notes),
        }

    def html(self) -> str:
        """One self-contained page."""
        import holdfast
        from holdfast.dossier._page import document

        return document("comparison.html.j2", said=visible(self.to_json()), version=holdfast.__version__)


@checked
def compare(releases: Mapping[str, Release[Any]]) -> Comparison:
    """What each release promises and what it is worth, side by side; nothing but the releases is read.

    Parameters
    ----------
    releases : mapping of str to Release
        Two or more releases, each under the name of its column.

    Returns
    -------
    Comparison
        Public, as the releases are.

    Examples
    --------
    >>> from holdfast.privacy import Account, Gaussian, GaussianDP
    >>> def released(mu):
    ...     account = Account(GaussianDP(mu))
    ...     noisy = account.release(Gaussian(sigma=1 / mu, l2_sensitivity=1.0), [12.0, 30.0])
    ...     return Release.of(account, noisy, method="two counts")
    >>> both = compare({"A": released(0.5), "B": released(1.0)})
    >>> dict(both.rows)["epsilon at delta 1e-06"]
    ('2.255', '4.887')
    """
    require(len(releases) >= 2, "releases", len(releases), "two or more")
    said = {name: _facts(name, release) for name, release in releases.items()}
    labels = list(dict.fromkeys(label for facts in said.values() for label in facts))
    rows = [(label, tuple(facts.get(label, "-") for facts in said.values())) for label in labels]
    return Comparison(
        title="Releases side by side", names=tuple(said), rows=tuple(rows), notes=tuple(_notes(releases))
    )


def _facts(name: str, release: Release[Any]) -> dict[str, str]:
    description = release_facts(release, name=name, sha256=release.sha256())
    promised = promise([release])
    points = {point.delta: point.epsilon for point in promised.points}
    facts = {
        "holds": description.utility.what,
        "method": description.title,
        "promise": promised.curve,
        "adjacency": promised.adjacency,
        "unit": promised.unit,
    }
    facts |= {f"epsilon at delta {delta:g}": _number(points[delta]) for delta in DELTAS}
    facts |= {
        "by the most telling result, 50 % sure becomes at most": f"{100 * promised.sure.half:.1f} %",
        "on average over all results, guesses right at most": f"{100 * promised.guess:.1f} %",
        "noise": description.provenance.noise,
        "arithmetic": description.provenance.arithmetic,
        "assumptions": str(len(promised.assumptions)),
        "theorem": promised.theorem,
    }
    for claim in description.certificates:
        facts[f"{claim.name} (alpha)"] = claim.bound()
    return facts | _weights(description.utility)


def _weights(utility: Utility) -> dict[str, str]:
    if not isinstance(utility, ModelUtility):
        return {}
    return {
        f"weight of {row.name}": f"{row.weight:.4g}" + ("" if row.reach is None else f" ± {row.reach:.2g}")
        for row in utility.rows[:_MOST_WEIGHTS]
    }


def _notes(releases: Mapping[str, Release[Any]]) -> list[str]:
    listed = list(releases.values())
    notes = []
    if len({(release.guarantee.adjacency, release.guarantee.unit) for release in listed}) > 1:
        notes.append(
            "the promises are about different neighbours or units: their epsilons are not on one scale"
        )
    if len({release.provenance.schema_hash for release in listed}) > 1:
        notes.append("the releases were made under different schemas")
    seeded = [name for name, release in releases.items() if not release.private]
    if seeded:
        notes.append(f"NOT PRIVATE, drawn from a seed: {', '.join(seeded)}")
    return [*notes, "whoever sees several of them has their promises added up, not the smallest"]


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "…"


def _number(value: float | None) -> str:
    return "inf" if value is None else epsilon_text(value)

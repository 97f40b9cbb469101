"""Comparison: things side by side in one table; releases, from what they say of themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast._arguments import checked
from holdfast.dossier._promise import PAGE_DELTAS, joint_promise
from holdfast.dossier._record import release_facts
from holdfast.dossier._section import make_visible
from holdfast.dossier._utility import ModelUtility, Utility
from holdfast.errors import require
from holdfast.privacy._wording import epsilon_text
from holdfast.release import Release

_MOST_WEIGHTS = 40
_MOST_CELL_LETTERS = 48


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
    alarms : tuple of str
        What a reader has to know first: what here is not private.
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
    alarms: tuple[str, ...] = ()
    audience: str = "public"

    def __post_init__(self) -> None:
        for label, cells in self.rows:
            require(len(cells) == len(self.names), label, len(cells), "one cell per name")

    def summary(self) -> str:
        """A fixed-width table, and the notes; long texts are cut here and whole on the page."""
        short_rows = [(label, [_shorten(cell) for cell in cells]) for label, cells in self.rows]
        first = max((len(label) for label, _ in short_rows), default=0)
        widths = [
            max([len(name), *(len(cells[place]) for _, cells in short_rows)])
            for place, name in enumerate(self.names)
        ]
        lines = [" " * first + "  " + "  ".join(n.rjust(w) for n, w in zip(self.names, widths, strict=True))]
        for label, cells in short_rows:
            lines.append(
                label.ljust(first) + "  " + "  ".join(c.rjust(w) for c, w in zip(cells, widths, strict=True))
            )
        return "\n".join([*lines, *(f"note: {note}" for note in (*self.alarms, *self.notes))])

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "title": self.title,
            "audience": self.audience,
            "names": list(self.names),
            "rows": [{"what": label, "cells": list(cells)} for label, cells in self.rows],
            "alarms": list(self.alarms),
            "notes": list(self.notes),
        }

    def html(self) -> str:
        """One self-contained page."""
        import holdfast
        from holdfast.dossier._page import document

        return document(
            "comparison.html.j2", record=make_visible(self.to_json()), version=holdfast.__version__
        )


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
    facts_by_name = {name: _facts(name, release) for name, release in releases.items()}
    labels = list(dict.fromkeys(label for facts in facts_by_name.values() for label in facts))
    rows = [(label, tuple(facts.get(label, "-") for facts in facts_by_name.values())) for label in labels]
    return Comparison(
        title="Releases side by side",
        names=tuple(facts_by_name),
        rows=tuple(rows),
        notes=tuple(_notes(releases)),
        alarms=tuple(_alarms(releases)),
    )


def _facts(name: str, release: Release[Any]) -> dict[str, str]:
    release_record = release_facts(release, name=name, sha256=release.sha256())
    promise = joint_promise([release])
    points = {point.delta: point.epsilon for point in promise.points}
    facts = {
        "holds": release_record.utility.what,
        "method": release_record.title,
        "promise": promise.curve,
        "adjacency": promise.adjacency,
        "unit": promise.unit,
    }
    facts |= {f"epsilon at delta {delta:g}": _number(points[delta]) for delta in PAGE_DELTAS}
    facts |= {
        "by the most telling result, 50 % sure becomes at most": f"{100 * promise.sure.half:.1f} %",
        "on average over all results, guesses right at most": f"{100 * promise.guess:.1f} %",
        "noise": release_record.provenance.noise,
        "arithmetic": release_record.provenance.arithmetic,
        "assumptions": str(len(promise.assumptions)),
        "theorem": promise.theorem,
    }
    for certificate in release_record.certificates:
        facts[f"{certificate.name} (alpha)"] = certificate.bound()
    return facts | _weights(release_record.utility)


def _weights(utility: Utility) -> dict[str, str]:
    if not isinstance(utility, ModelUtility):
        return {}
    return {
        f"weight of {row.name}": f"{row.weight:.4g}" + ("" if row.reach is None else f" ± {row.reach:.2g}")
        for row in utility.rows[:_MOST_WEIGHTS]
    }


def _notes(releases: Mapping[str, Release[Any]]) -> list[str]:
    release_list = list(releases.values())
    notes = []
    if len({(release.guarantee.adjacency, release.guarantee.unit) for release in release_list}) > 1:
        notes.append(
            "the promises are about different neighbours or units: their epsilons are not on one scale"
        )
    if len({release.provenance.schema_hash for release in release_list}) > 1:
        notes.append("the releases were made under different schemas")
    return [*notes, "whoever sees several of them has their promises added up, not the smallest"]


def _alarms(releases: Mapping[str, Release[Any]]) -> list[str]:
    seeded = [name for name, release in releases.items() if not release.private]
    return [f"NOT PRIVATE, drawn from a seed: {', '.join(seeded)}"] if seeded else []


def _shorten(text: str) -> str:
    return text if len(text) <= _MOST_CELL_LETTERS else text[: _MOST_CELL_LETTERS - 1] + "…"


def _number(value: float | None) -> str:
    return "inf" if value is None else epsilon_text(value)

"""The record: everything a dossier says, as plain data, each section a function of its sources.

The page is drawn from the record and from nothing else; whoever has the sources can build the sections again
and compare. Numbers are shortened to six digits; an infinite epsilon is None.

Payment: which entries of a ledger paid for a release, and who allowed it.
"""

from __future__ import annotations

import hashlib
import math
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from holdfast.dossier.charts import curve as curve_points
from holdfast.dossier.charts import trade_off as picture_points
from holdfast.dossier.evidence import Tried
from holdfast.dossier.promise import Sureness, together
from holdfast.dossier.utility import utility
from holdfast.errors import ParameterError
from holdfast.ledger import Ledger, LedgerEntry
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.curves.curve import PrivacyCurve
from holdfast.privacy.guarantee import Guarantee
from holdfast.release import Release


def payment(release: Release[Any], ledger: Ledger) -> dict[str, Any]:
    """Entries with their hashes, account and dataset, with approvers and purposes.

    Refused where the ledger did not pay for the release: another ledger, or an entry that is not there.
    """
    made = release.provenance
    if not made.entries or not made.account.startswith(f"{ledger.id}/"):
        raise ParameterError(
            "ledger must be the one that paid for the release, got another one; "
            f"the release names {made.account.partition('/')[0] or 'none'}"
        )
    entries = {entry.number: entry for entry in ledger.history()}
    paid = [entries.get(number) for number in made.entries]
    accounts = {entry.body.get("account") for entry in paid if entry is not None and entry.kind == "charge"}
    if None in paid or len(accounts) != 1 or any(e is not None and e.kind != "charge" for e in paid):
        raise ParameterError(
            "the ledger must hold the charges that the release names; it is an older copy, or another ledger"
        )
    (name,) = accounts
    account = _opening(entries, "account", str(name))
    dataset = _opening(entries, "dataset", account.body["dataset"])
    return {
        "ledger": ledger.id,
        "dataset": dataset.body["dataset"],
        "dataset_purpose": dataset.body["purpose"],
        "dataset_approver": dataset.body["approver"],
        "account": name,
        "purpose": account.body["purpose"],
        "approver": account.body["approver"],
        "opened": account.at,
        "entries": [{"number": entry.number, "hash": entry.hash} for entry in paid if entry is not None],
        "head": made.head,
    }


def _opening(entries: dict[int, LedgerEntry], kind: str, name: str) -> LedgerEntry:
    found = [e for e in entries.values() if e.kind == kind and e.body[kind] == name]
    if not found:
        raise ParameterError(f"the ledger must hold the {kind} that paid for the release")
    return found[0]


FORMAT = "holdfast-dossier/1"
DELTAS = (1e-3, 1e-5, 1e-6, 1e-9)
PRIORS = (0.01, 0.1, 0.5, 0.9)
RATES = (0.001, 0.01, 0.05, 0.1, 0.5)
MOST_ATTACKS = 6
"""Attacks drawn in the picture, the strongest first; the table lists all."""
CHANGE = {
    Adjacency.replace: "replaced by someone else's",
    Adjacency.zero_out: "blanked out",
    Adjacency.add_remove: "in the table at all",
}
"""The two worlds of each adjacency, as the end of a sentence about 'the data of one unit were ...'."""
NEIGHBOURS = {
    Adjacency.replace: "that unit's data are changed",
    Adjacency.zero_out: "that unit's data are blanked out",
    Adjacency.add_remove: "that unit is added or removed",
}


def promise(releases: Sequence[Release[Any]]) -> dict[str, Any]:
    """What is promised, by all releases together, in words and in numbers."""
    guarantee = together(releases)
    curve = guarantee.curve
    sure = Sureness.of(curve)
    trade_off = curve.trade_off()
    return {
        "guarantee": _guarantee(guarantee),
        "curve": repr(curve),
        "adjacency": guarantee.adjacency.value,
        "neighbours": NEIGHBOURS[guarantee.adjacency],
        "unit": guarantee.unit.summary(),
        "unit_is_row": guarantee.unit.column is None,
        "change": CHANGE[guarantee.adjacency],
        "theorem": guarantee.theorem,
        "assumptions": list(guarantee.assumptions),
        "guess": up_to(trade_off.guess()),
        "sure": {
            "failure": sure.failure,
            "loss": short_digest(sure.loss),
            "after": [{"prior": prior, "at_most": sure.after(prior)} for prior in PRIORS],
        },
        "points": [
            {"delta": delta, "epsilon": short_digest(curve.epsilon(delta))} for delta in _deltas(curve)
        ],
        "curve_points": curve_points.sampled([("proved", curve)]),
        "private": all(one.private for one in releases),
        "strict": all(one.provenance.arithmetic == "strict" for one in releases),
    }


def described(release: Release[Any], *, name: str, sha256: str) -> dict[str, Any]:
    """One release: what it holds, how it came about, and the hash of its file."""
    made = release.provenance
    return {
        "name": name,
        "sha256": sha256,
        "method": made.method,
        "created": made.created,
        "private": release.private,
        "guarantee": _guarantee(release.guarantee),
        "theorem": release.guarantee.theorem,
        "provenance": made.to_json(),
        "certificates": [certificate.to_json() for certificate in release.certificates],
        "utility": utility(release),
    }


def picture(releases: Sequence[Release[Any]], tried: Sequence[Tried]) -> dict[str, Any]:
    """Proof, audits and attacks on one grid, for both scales."""
    attacks = sorted(
        (one for one in tried if one.kind == "attack"), key=lambda one: -one.curve.detection_at(0.01)
    )
    drawn = [one for one in tried if one.kind == "audit"] + attacks[:MOST_ATTACKS]
    curves = [
        ("proved", together(releases).curve.trade_off()),
        *((_line_name(one), one.curve) for one in drawn),
    ]
    return {
        "linear": picture_points.sampled(curves),
        "log": picture_points.sampled(curves, log=True),
        "rates": list(RATES),
        "rows": [
            {
                "name": name,
                "claim": curve.claim,
                "found": [short_digest(curve.detection_at(rate)) for rate in RATES],
            }
            for name, curve in curves
        ],
        "left_out": max(0, len(attacks) - MOST_ATTACKS),
    }


def tried_json(one: Tried) -> dict[str, Any]:
    """An audit or attack as the page shows it."""
    return {
        "kind": one.kind,
        "name": one.name,
        "state": one.state,
        "summary": one.words,
        "numbers": one.numbers,
        "contradiction": one.contradiction,
    }


def file_digest(release: Release[Any]) -> str:
    """The hash of the file that `release.save` writes: the same release always gives the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "release"
        release.save(path)
        return record_digest(path)


def record_digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def visible(value: Any) -> Any:
    r"""Plain data in which nothing is invisible: what no printer prints is spelled out.

    >>> visible({"a\u202e": ["b\n", 1.5]})
    {'a\\u202e': ['b\n', 1.5]}
    """
    match value:
        case str():
            return "".join(c if c.isprintable() or c == "\n" else f"\\u{ord(c):04x}" for c in value)
        case dict():
            return {visible(str(key)): visible(item) for key, item in value.items()}
        case list() | tuple():
            return [visible(item) for item in value]
        case float() if not math.isfinite(value):
            return None
    return value


def short_digest(value: float) -> float | None:
    """Six digits; None for infinity."""
    return float(f"{value:.6g}") if math.isfinite(value) else None


def up_to(probability: float) -> float:
    """An upper bound to a tenth of a per cent, rounded up.

    >>> up_to(0.54701)
    0.548
    """
    return min(1.0, math.ceil(1000 * probability - 1e-9) / 1000)


def _guarantee(guarantee: Guarantee) -> dict[str, Any]:
    """The guarantee as it is stored; a curve of many numbers by its name only."""
    stored = guarantee.to_json()
    long = len(repr(stored["curve"])) > 2_000
    return stored | {"curve": {"kind": guarantee.curve.kind, "stored": "in the release"}} if long else stored


def _deltas(curve: PrivacyCurve) -> list[float]:
    point = curve.as_approximate()
    own = [] if point is None or float(point[1]) == 0 else [float(point[1])]
    return sorted({*DELTAS, *own, *([0.0] if point is not None and not own else [])}, reverse=True)


def _line_name(one: Tried) -> str:
    return f"{one.kind}: {one.name}"

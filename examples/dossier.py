"""A dossier: release, audit, page and check, all in a scratch folder.

Two counts of an invented clinic are released through a ledger, the mechanism is audited with planted records, and the
page about it is written and verified; an edited page is caught. The picture is the page's own: proof and audit in one.

    python examples/dossier.py [PICTURE]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from holdfast import Ledger, Release
from holdfast.audit import OneRun, audit
from holdfast.dossier import Dossier, verify_dossier
from holdfast.privacy import Account, ApproxDP, Gaussian

LIMIT = ApproxDP(1.0, 1e-6)
TERMS: Any = {"currency": "gdp", "adjacency": "add_remove"}
NOISE = Gaussian.within(LIMIT, l2_sensitivity=1.0, adjacency="add_remove")


def story(folder: Path, *, seed: int | None = None) -> tuple[Dossier, list[str]]:
    """Pay, release, audit, write, verify; then change a word and verify again."""
    path = folder / "visits.holdfast"
    with Ledger.create(folder / "clinic.ledger") as ledger:
        ledger.dataset("clinic", limit=ApproxDP(2.0, 1e-6), approver="R. Officer", **TERMS)
        account = ledger.account("clinic", name="visits", limit=LIMIT, purpose="yearly report", seed=seed)
        noisy = account.release(NOISE, [310, 287])
        Release.of(account, {"visits": noisy}, method="visits by month").save(path)
        # The same mechanism, on records that only the audit knows: no real person is in it.
        found = audit(
            lambda rows: Account(LIMIT, seed=seed, **TERMS).release(NOISE, rows.sum(axis=0)),
            np.zeros((0, 1024)),
            claim=LIMIT,
            adjacency="add_remove",
            design=OneRun(bound="gaussian"),
            seed=seed,
        )
        made = Dossier.of_files([path], audits=[found], ledger=ledger, title="Visits")
        page, forged = made.save(folder / "dossier.html"), folder / "forged.html"
        forged.write_text(page.read_text().replace("yearly", "weekly"))
        said = [
            f"{one.name}: {verify_dossier(one, releases=[path], ledger=ledger.path).problems or 'agrees'}"
            for one in (page, forged)
        ]
    return made, said


def draw(made: Dossier) -> Any:
    """Members found against false alarms: what is proved, and what the audit shows."""
    figure, axes = plt.subplots(figsize=(6.4, 5.0), layout="constrained")
    for curve, name, colour, style in (
        (made.releases[0].guarantee.curve.trade_off(), "proved: nobody is above", "#0072b2", "-"),
        (made.audits[0].trade_off(0.95), "audited: somebody is this good", "#d55e00", "--"),
    ):
        axes.plot(curve.false_alarm, 1 - np.asarray(curve.miss), color=colour, linestyle=style, label=name)
    axes.plot([0, 1], [0, 1], color="#1c2733", linewidth=0.8, linestyle=":", label="guessing")
    axes.set(xlabel="false alarms", ylabel="members found", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.set_title(f"Visits by month: {len(made.contradictions)} contradictions", loc="left")
    axes.legend(frameon=False, loc="lower right")
    return figure


def picture(seed: int | None = None) -> Any:
    """Proof and audit of the release, drawn."""
    with tempfile.TemporaryDirectory() as scratch:
        return draw(story(Path(scratch), seed=seed)[0])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        made, said = story(Path(scratch))
    print("\n".join([made.summary(), *said]))
    target = sys.argv[1] if len(sys.argv) > 1 else "dossier.svg"
    draw(made).savefig(target)
    print(f"picture: {target}")

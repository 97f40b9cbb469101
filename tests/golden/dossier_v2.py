"""Made dossier-v2/: a page of the format holdfast-dossier/2 with release and ledger, by the last version that wrote it.

    python -m tests.golden.dossier_v2 FOLDER

Made once, with the package of commit de40071; a later version writes another format, and refuses.
"""

from __future__ import annotations

import sys
from pathlib import Path

from holdfast.dossier import Dossier
from holdfast.dossier._record import FORMAT
from holdfast.ledger import Ledger
from holdfast.privacy import ApproxDP, Gaussian
from holdfast.release import Release
from holdfast.release._certificate import Certificate

FOLDER = Path(__file__).with_name("dossier-v2")


def make(folder: Path) -> None:
    """Two noisy counts, paid and closed, and their page."""
    if FORMAT != "holdfast-dossier/2":
        raise SystemExit(f"this version writes {FORMAT}")
    folder.mkdir()
    with Ledger.create(folder / "ledger.db") as ledger:
        ledger.dataset("clinic", limit=ApproxDP(2.0, 1e-6), currency="gdp", approver="R. Officer")
        account = ledger.account("clinic", name="table 1", limit=ApproxDP(1.0, 1e-6), approver="M. Head")
        noisy = account.release(Gaussian.within(account.limit, l2_sensitivity=1.0), [12.0, 30.0])
        claim = Certificate(
            name="largest error", statement="by the law", alpha=9.0, confidence=0.95, query_class="both"
        )
        made = Release.of(account, {"visits": noisy}, method="two noisy counts", certificates=[claim])
        made.save(folder / "table.holdfast")
        Dossier.of_files([folder / "table.holdfast"], ledger=ledger).save(folder / "page.html")


if __name__ == "__main__":
    make(Path(sys.argv[1]))

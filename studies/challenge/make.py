"""Make the challenge: twenty releases with their pages and signed extracts, half of them forged or broken.

    python -m studies.challenge.make

The rows are those of the bundled Adult table, which is public. Noise is secure, so the files differ each time; those in
`cases.zip` are the challenge. The officer's private key is thrown away.
"""

from __future__ import annotations

import io
import json
import random
import shutil
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.dossier.dossier_samples import audit
from tests.dossier.verification import forging
from tests.dossier.verification.forging import Case

from holdfast._demo.steps import people
from holdfast.data import Categorical, Numeric, Schema, open_table
from holdfast.dossier import Dossier
from holdfast.dossier._page import record_of
from holdfast.dossier._renderer import renderer
from holdfast.learn import PrivateLogisticRegression
from holdfast.ledger import Ledger, create_key
from holdfast.privacy import Account, ApproxDP, Gaussian, Laplace, PureDP
from holdfast.release import Release
from holdfast.release._certificate import Certificate
from holdfast.synth import Synthesizer

HERE = Path(__file__).parent
SCHEMA = Schema(
    [
        Numeric("age", 17, 90, bins=4),
        Numeric("hours_per_week", 1, 99, bins=4),
        Categorical("sex", ["Female", "Male"]),
        Categorical("income", ["<=50K", ">50K"]),
    ]
)
Make = Callable[[Account], Release[Any]]


def rows(count: int = 4000) -> Any:
    """The first rows of Adult, a few columns."""
    return people("train").slice(0, count).select(list(SCHEMA.names))


def counted(column: str) -> list[float]:
    """How many rows each value of a column has."""
    _, found = np.unique(np.array(rows()[column].to_pylist()), return_counts=True)
    return [float(one) for one in found]


def counts(column: str, mechanism: Any) -> Make:
    """Noisy counts of a column, with a certificate."""

    def make(account: Account) -> Release[Any]:
        noisy = account.release(mechanism, counted(column), key=column)
        claim = Certificate(
            name="largest error",
            statement="tails of the noise",
            alpha=60.0,
            confidence=0.95,
            query_class="all counts",
        )
        return Release.of(
            account,
            {"visits": noisy},
            method=f"counts of {column}",
            parameters={"column": column},
            schema_hash=SCHEMA.hash(),
            certificates=[claim],
        )

    return make


def model(account: Account) -> Release[Any]:
    """A model of income."""
    made = PrivateLogisticRegression(method="output").fit(
        open_table(rows(), SCHEMA), target="income", account=account
    )
    assert made.release_ is not None
    return made.release_


def table(account: Account) -> Release[Any]:
    """A small synthetic table."""
    maker = Synthesizer(columns=["sex", "income", "age"], method="independent", rows=200, key="rows")
    return maker.fit(open_table(rows(), SCHEMA), account=account).release_


def share(account: Account) -> Release[Any]:
    """A release from a share of an account."""
    first, _ = account.split(0.5, 0.5)
    noisy = first.release(Gaussian(sigma=30.0, l2_sensitivity=2.0), counted("sex"), key="half")
    return Release.of(first, {"visits": noisy}, method="counts of sex, from half the budget")


GAUSSIAN, LAPLACE = Gaussian(sigma=20.0, l2_sensitivity=1.5), Laplace(scale=4.0, l1_sensitivity=2.0)
LIMIT = ApproxDP(1.0, 1e-6)
SOUND: list[tuple[Make, dict[str, Any]]] = [
    (counts("sex", GAUSSIAN), {"title": "Adults by sex"}),
    (counts("income", GAUSSIAN), {"title": "Adults by income", "currency": "zcdp"}),
    (
        counts("sex", Laplace(scale=4.0, l1_sensitivity=2.0)),
        {"title": "By sex, pure", "limit": PureDP(1.0), "currency": None},
    ),
    (
        counts("income", Laplace(scale=4.0, l1_sensitivity=2.0)),
        {"title": "By income, basic", "currency": "basic"},
    ),
    (forging.visits, {"title": "Two counts and a mean"}),
    (model, {"title": "Income model", "currency": "zcdp"}),
    (table, {"title": "Synthetic adults", "currency": "zcdp"}),
    (share, {"title": "Half a budget"}),
    (counts("sex", GAUSSIAN), {"title": "Nobody approved", "approver": ""}),
    (counts("income", GAUSSIAN), {"title": "Added or removed", "adjacency": "add_remove"}),
]


# Forgeries: each takes a sound case and makes a bad one of it.


def _release(edit: Callable[[Any, dict[str, bytes]], None]) -> Callable[[Case], None]:
    def forge(case: Case) -> None:
        record, members = forging.release_tree(case)
        edit(record, members)
        forging.rewrite_release(case, record, members)
        forging.redraw_about(case)

    return forge


def _record(edit: Callable[[Any], None]) -> Callable[[Case], None]:
    def forge(case: Case) -> None:
        record = record_of(case.page.read_text(encoding="utf-8"))
        edit(record)
        forging.redraw(case, record)

    return forge


def better_epsilon(record: Any, members: dict[str, bytes]) -> None:
    """A promise that nobody paid for."""
    record["guarantee"]["curve"] = {"kind": "ApproxDP", "epsilon": 0.01, "delta": 1e-9}


def other_value(record: Any, members: dict[str, bytes]) -> None:
    """A value that nobody drew."""
    name = sorted(members)[0]
    members[name] = members[name][:-8] + np.array([123.456]).tobytes()


def better_certificate(record: Any, members: dict[str, bytes]) -> None:
    """Errors a hundred times smaller."""
    record["certificates"][0]["alpha"] /= 100


def secure(record: Any, members: dict[str, bytes]) -> None:
    """A seed hidden."""
    record["provenance"]["noise"] = "secure"


def fewer_charges(record: Any, members: dict[str, bytes]) -> None:
    """A charge left out."""
    record["provenance"]["entries"] = record["provenance"]["entries"][:-1]


def certified(case: Case) -> None:
    """A word on the page."""
    page = case.page.read_text(encoding="utf-8")
    forging.reseal(case, page.replace("<h1>", "<h1>CERTIFIED: ", 1))


def fuller_budget(record: Any) -> None:
    """More left than there is."""
    record["budgets"][0]["parts"][2]["share"] = 99.0


def invented_audit(case: Case) -> None:
    """An audit that was never run."""
    with Ledger.open(case.ledger, read_only=True) as ledger:
        said = record_of(case.page.read_text(encoding="utf-8"))
        again = Dossier.of_files(
            [case.release],
            ledger=ledger,
            audits=[audit(), audit(51)],
            title=said["title"],
            head=said["budgets"][0]["head"],
        )
        case.page.write_text(again.html(), encoding="utf-8")


def other_purpose(case: Case) -> None:
    """The whole ledger hashed again, and signed with a key of the forger's own."""
    create_key(case.folder / "forger.pem")

    def edit(number: int, data: Any) -> Any:
        if data["kind"] == "account":
            data["body"]["purpose"] = "a better purpose"
        return data

    forging.rehash(case, edit, key=case.folder / "forger.pem")


def broken(case: Case) -> None:
    """A bit flipped."""
    data = bytearray(case.release.read_bytes())
    data[len(data) // 2] ^= 4
    case.release.write_bytes(data)


FORGED: list[tuple[Make, dict[str, Any], Callable[[Case], None]]] = [
    (counts("sex", GAUSSIAN), {"title": "Adults by sex", "currency": "zcdp"}, _release(better_epsilon)),
    (counts("income", GAUSSIAN), {"title": "Adults by income"}, _release(other_value)),
    (counts("sex", GAUSSIAN), {"title": "Small errors"}, _release(better_certificate)),
    (counts("income", GAUSSIAN), {"title": "From a seed", "seed": 7}, _release(secure)),
    (forging.visits, {"title": "Two counts and a mean"}, _release(fewer_charges)),
    (model, {"title": "Income model", "currency": "zcdp"}, certified),
    (table, {"title": "Synthetic adults", "currency": "zcdp"}, _record(fuller_budget)),
    (counts("sex", GAUSSIAN), {"title": "Well tested"}, invented_audit),
    (counts("income", GAUSSIAN), {"title": "Well meant"}, other_purpose),
    (share, {"title": "Half a budget"}, broken),
]


def main() -> None:
    """Make all twenty, shuffle them, and keep what a stranger would be given."""
    cases: list[tuple[str, Make, dict[str, Any], Callable[[Case], None] | None]] = [
        *(("sound", make, how, None) for make, how in SOUND),
        *(("forged", make, how, forge) for make, how, forge in FORGED),
    ]
    random.Random(20).shuffle(cases)
    answers, packed = {}, io.BytesIO()
    with (
        tempfile.TemporaryDirectory() as there,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        folder = Path(there)
        create_key(folder / "officer.pem")
        shutil.copy(folder / "officer.pub", HERE / "officer.pub")
        for number, (truth, make, how, forge) in enumerate(cases, start=1):
            name = f"{number:02d}"
            answers[name] = truth
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                case = forging.sound(
                    folder / name, make, key=folder / "officer.pem", **({"limit": LIMIT} | how)
                )
                if forge is not None:
                    forge(case)
            own = case.folder / "forger.pem"
            with Ledger.open(case.ledger, check="nothing", read_only=True) as ledger:
                extract = ledger.extract(["clinic"], own if own.exists() else case.key)
            archive.write(case.page, f"{name}/page.html")
            archive.write(case.release, f"{name}/release.holdfast")
            archive.writestr(f"{name}/extract.json", json.dumps(extract))
    (HERE / "cases.zip").write_bytes(packed.getvalue())
    (HERE / "renderer.txt").write_text(f"{renderer()}\n", encoding="utf-8")
    (HERE / "answers.json").write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

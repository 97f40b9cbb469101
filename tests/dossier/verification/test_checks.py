"""Each check of a verification, where it alone stands between a forger and an ok."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.dossier import verify_dossier
from holdfast.dossier._verification.certificates import check_certificates
from holdfast.dossier._verification.findings import Findings
from holdfast.dossier._verification.ledger_checks import check_accounts
from holdfast.errors import NotPrivateWarning
from holdfast.ledger import Ledger, create_key
from holdfast.ledger._signing.signature import Signature
from holdfast.privacy import ApproxDP
from holdfast.release import Release
from tests.dossier.verification import forging
from tests.dossier.verification.forging import Case
from tests.golden.stored_files import FOLDER


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return forging.sound(tmp_path_factory.mktemp("sound"))


@pytest.fixture
def case(made: Case, tmp_path: Path) -> Case:
    return made.copy(tmp_path / "copy")


def problems(case: Case, release: Release[Any]) -> list[str]:
    """What holds a release against its account, and nothing else."""
    found = Findings()
    with Ledger.open(case.ledger, read_only=True) as ledger:
        check_accounts([release], ledger, found)
    return found.problems


def test_the_guarantee_must_be_the_accounts(case: Case) -> None:
    release = Release.load(case.release)
    assert not problems(case, release)
    better = replace(release, guarantee=replace(release.guarantee, curve=ApproxDP(0.01, 1e-9)))
    assert any("the guarantee is not the account's" in text for text in problems(case, better))


def test_the_charges_must_be_complete(case: Case) -> None:
    release = Release.load(case.release)
    fewer = replace(release, provenance=replace(release.provenance, entries=release.provenance.entries[:1]))
    assert any("charges of its account are missing" in text for text in problems(case, fewer))


def test_seeded_charges_are_not_secure(tmp_path: Path) -> None:
    with pytest.warns(NotPrivateWarning):
        case = forging.sound(tmp_path / "seeded", seed=3)
    release = Release.load(case.release)
    assert not problems(case, release)
    relabelled = replace(
        release,
        provenance=replace(release.provenance, noise="secure"),
        guarantee=replace(release.guarantee, noise="secure"),
    )
    assert any("it is called secure" in text for text in problems(case, relabelled))


def test_a_signature_before_the_closing_does_not_cover_it(case: Case) -> None:
    """A forger with the ledger appends closings of his own after the officer's signature."""
    record, members = forging.release_tree(case)
    record["certificates"][0]["alpha"] = 0.25
    forging.rewrite_release(case, record, members)
    forging.redraw_about(case)
    forging.close_again(case, key=None)
    found = verify_dossier(case.page, releases=[case.release], ledger=case.ledger, public_key=case.public)
    assert found.verdict == "not judged"
    assert any("not yet signed" in text for text in found.skipped)


def test_a_file_without_a_signature_is_looked_up_by_itself(case: Case) -> None:
    """Of a forged page it is not said that the ledger did not close its release, which it did, and was signed for."""
    with Ledger.open(case.ledger) as ledger:
        ledger.sign(case.key)
    forged = case.page.read_text(encoding="utf-8").replace("In plain words", "In plainer words")
    case.page.write_text(forged, encoding="utf-8")
    found = verify_dossier(case.page, releases=[case.release], ledger=case.ledger, public_key=case.public)
    assert found.verdict == "wrong"
    about = [text for text in (*found.checked, *found.skipped) if "signature" in text]
    (release,) = [text for text in about if text.startswith(case.release.name)]
    assert release == f"{case.release.name} is closed in the ledger, under the signature of a trusted key"
    (page,) = [text for text in found.skipped if text.startswith(case.page.name)]
    assert page == f"{case.page.name} carries no signature, and the ledger did not close it"
    alone = verify_dossier(case.page, releases=[case.release], public_key=case.public)
    assert not any("did not close" in text for text in alone.skipped)


def test_signatures_beside_the_files(case: Case, tmp_path: Path) -> None:
    """A signature beside a file must hold, by a key that counts, whatever else holds."""
    asked: dict[str, Any] = {"releases": [case.release], "ledger": case.ledger, "public_key": case.public}
    for path in (case.page, case.release):
        Signature.sign_file(case.key, path)
    assert verify_dossier(case.page, **asked).ok
    create_key(tmp_path / "other.pem")
    Signature.sign_file(tmp_path / "other.pem", case.release)
    found = verify_dossier(case.page, **asked)
    assert any("not of a trusted key" in text for text in found.problems)
    Path(f"{case.release}.sig").write_text("{", encoding="utf-8")
    assert verify_dossier(case.page, **asked).verdict == "wrong"


def test_an_approver_who_did_not_sign_is_not_checked(tmp_path: Path) -> None:
    case = forging.sound(tmp_path / "sound")
    kept = [
        entry
        for entry in forging.entries_of(case.ledger)
        if entry.kind not in ("approval", "page", "signature")
    ]
    forging.write_ledger(case.ledger, kept)
    forging.redraw_about(case)
    found = verify_dossier(case.page, releases=[case.release], ledger=case.ledger, public_key=case.public)
    assert not found.ok


def test_other_rows_than_were_certified_show(tmp_path: Path) -> None:
    """The certificate names the rows that it was made for, and so does the key of its charge."""
    place = Path(shutil.copytree(FOLDER, tmp_path / "stored"))
    release = Release.load(place / "rows.holdfast")
    rows = release.value["rows"]
    with Ledger.open(place / "budget.db", read_only=True) as ledger:
        for value, fine in (
            (rows, True),
            (rows.slice(1), False),
            (rows.take(list(range(len(rows)))[::-1]), False),
        ):
            found = Findings()
            check_certificates([replace(release, value=release.value | {"rows": value})], ledger, found)
            assert (not found.problems) is fine

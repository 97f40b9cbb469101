"""Findings D1 to D6 of the review: what was forged then, and passed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from holdfast._cli.app import app
from holdfast.dossier import Dossier, verify_dossier
from holdfast.dossier._page import record_of, render
from holdfast.dossier._record import Record
from holdfast.ledger import Ledger, create_key
from holdfast.privacy import ZCDP, Account, ApproxDP, Gaussian, GaussianDP
from holdfast.release import Release
from holdfast.release._certificate import SHARE, Certificate
from tests.dossier.dossier_samples import FakeAttack, model
from tests.dossier.verification import forging
from tests.dossier.verification.forging import Case


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return forging.sound(tmp_path_factory.mktemp("sound"))


@pytest.fixture
def case(made: Case, tmp_path: Path) -> Case:
    return made.copy(tmp_path / "copy")


def exit_code(case: Case, *more: str | Path) -> int:
    """Of `holdfast verify` with release and ledger."""
    asked = ["verify", case.page, "--release", case.release, "--ledger", case.ledger, *more]
    return CliRunner().invoke(app, [str(one) for one in asked]).exit_code


def test_what_is_sound_passes(case: Case) -> None:
    assert exit_code(case, "--recompute") == 0
    assert exit_code(case, "--public-key", case.public) == 0


def _release(*path: Any) -> Callable[[Case], None]:
    *place, value = path

    def forge(case: Case) -> None:
        record, members = forging.release_tree(case)
        inner = record
        for key in place[:-1]:
            inner = inner[key]
        assert inner[place[-1]] != value
        inner[place[-1]] = value
        forging.rewrite_release(case, record, members)
        forging.redraw_about(case)

    return forge


def _value(case: Case) -> None:
    record, members = forging.release_tree(case)
    name = next(iter(members))
    members[name] = members[name][:-8] + bytes(8)
    forging.rewrite_release(case, record, members)
    forging.redraw_about(case)


def _record(*path: Any) -> Callable[[Case], None]:
    *place, value = path

    def forge(case: Case) -> None:
        record = record_of(case.page.read_text(encoding="utf-8"))
        inner = record
        for key in place[:-1]:
            inner = inner[key]
        assert inner[place[-1]] != value
        inner[place[-1]] = value
        forging.redraw(case, record)

    return forge


D1 = [_release("guarantee", "curve", {"kind": "ApproxDP", "epsilon": 0.01, "delta": 1e-9})]
D3 = [
    _value,
    _release("certificates", 0, "alpha", 0.25),
    _release("certificates", []),
    _release("provenance", "noise", "seeded"),
    _release("provenance", "entries", [3]),
    _release("provenance", "schema_hash", "cd" * 32),
    _release("guarantee", "adjacency", "add_remove"),
    _release("guarantee", "unit", {"column": "person", "max_rows": 3}),
    _release("guarantee", "theorem", "a better one"),
    _release("guarantee", "assumptions", []),
]
D4 = [
    _record("picture", "linear", "false_alarm", 3, 0.5),
    _record("title", "Certified visits"),
    _record("created", "1999-01-01"),
    _record("releases", 0, "name", "another"),
    _record("tables", 0, "labels", ["x", "y"]),
    _record("tables", 0, "error", 0.1),
    _record("budgets", []),
    _record("confidence", 0.99),
]


@pytest.mark.parametrize("forge", [*D1, *D3, *D4])
def test_forged_and_drawn_again(case: Case, forge: Callable[[Case], None]) -> None:
    """D1, D3 and D4: release or record edited, sums and seal made again, the page drawn again."""
    forge(case)
    assert exit_code(case) == 1
    assert exit_code(case, "--recompute") == 1


def test_an_invented_audit_shows(case: Case) -> None:
    """D4: the picture and the words of an invented audit follow from it, and still it was never closed."""
    from tests.dossier.dossier_samples import audit

    with Ledger.open(case.ledger, read_only=True) as ledger:
        head = record_of(case.page.read_text(encoding="utf-8"))["budgets"][0]["head"]
        Dossier.of_files(
            [case.release], ledger=ledger, audits=[audit(), audit(50)], title="Visits", head=head
        ).save(case.page, overwrite=True)
    assert exit_code(case) == 1


@pytest.mark.parametrize("field", ["holdfast", "renderer", "format"])
def test_another_version_does_not_switch_the_check_off(case: Case, field: str) -> None:
    """D2: numbers changed and "CERTIFIED" added under another version."""
    page = case.page.read_text(encoding="utf-8")
    record = record_of(page)
    other = {"holdfast": "0.0.1", "renderer": "0" * 64, "format": "holdfast-dossier/2"}[field]
    text = page.replace(f'"{field}":"{record[field]}"', f'"{field}":"{other}"').replace(
        "<h1>", "<h1>CERTIFIED "
    )
    assert text != page.replace("<h1>", "<h1>CERTIFIED ")
    forging.reseal(case, text)
    assert exit_code(case) == 1
    unclosed = [entry for entry in forging.entries_of(case.ledger) if entry.kind not in ("page", "signature")]
    forging.write_ledger(case.ledger, unclosed)
    assert exit_code(case) == 1  # by what it says of its maker alone


def test_with_nothing_to_compare_nothing_is_ok(case: Case) -> None:
    """D4: a page alone."""
    assert CliRunner().invoke(app, ["verify", str(case.page)]).exit_code == 3
    alone = CliRunner().invoke(app, ["verify", str(case.page), "--release", str(case.release)])
    assert alone.exit_code == 3


def test_a_ledger_hashed_again_with_another_purpose_falls_to_the_key(case: Case, tmp_path: Path) -> None:
    """D4: whoever holds the ledger can make everything agree; not so under a public key."""
    create_key(tmp_path / "forger.pem")

    def edit(number: int, data: Any) -> Any:
        if data["kind"] == "account":
            data["body"]["purpose"] = "the minister's own wish"
        return data

    forging.rehash(case, edit, key=tmp_path / "forger.pem")
    assert exit_code(case) == 0
    assert exit_code(case, "--public-key", case.public) == 1


def test_an_approval_is_never_invented(tmp_path: Path) -> None:
    """D5: an account without an approver does not show its dataset's."""
    with Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.dataset("clinic", limit=ZCDP(1.0), approver="R. Officer")
        account = ledger.account("clinic", name="quiet", limit=ZCDP(0.1))
        value = account.release(Gaussian(sigma=9.0, l2_sensitivity=1.0), [3.0])
        Release.of(account, value, method="a count").save(tmp_path / "count.holdfast")
        page = Dossier.of_files([tmp_path / "count.holdfast"], ledger=ledger).save(tmp_path / "page.html")
    text = page.read_text(encoding="utf-8")
    approved = text[text.index('<th scope="row">approved by</th>') :].split("</tr>")[0]
    assert "R. Officer" not in approved
    assert "nobody is named" in approved
    said = [one["text"] for one in record_of(text)["doubts"]]
    assert "nobody is named who approved the account quiet" in said


def test_a_release_that_nobody_counted_says_so() -> None:
    """D6: sixteen fits in memory give no page that rests on nothing."""
    releases = []
    for _ in range(16):
        account = Account(ApproxDP(1.0, 1e-6), currency="gdp")
        releases.append(
            Release.of(
                account, account.release(Gaussian(sigma=9.0, l2_sensitivity=1.0), [3.0]), method="a fit"
            )
        )
    made = Dossier(releases[7])
    assert [one.voids for one in made.record.doubts] == [True]
    assert "chosen among several fits" in made.record.doubts[0].text
    assert "no assumption" not in made.html()


def test_several_releases_of_one_account_are_counted(tmp_path: Path) -> None:
    """D6, with a ledger: the promise is the account's, and the page says how many share it."""
    with Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.dataset("clinic", limit=ZCDP(1.0))
        account = ledger.account("clinic", name="grid", limit=ZCDP(0.9), approver="M. Head")
        for place in range(16):
            value = account.release(Gaussian(sigma=9.0, l2_sensitivity=1.0), [3.0])
            Release.of(account, value, method="a fit").save(tmp_path / f"{place}.holdfast")
        made = Dossier.of_files([tmp_path / "7.holdfast"], ledger=ledger)
        assert made.record.payments[0].others == 15
        assert any("15 other releases" in one.text for one in made.record.doubts)


@pytest.fixture(scope="module")
def read_by_an_officer(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[Path]]:
    """D8: a page with marginals that were measured twice, a certificate with a unit, a model, and five attacks."""
    folder = tmp_path_factory.mktemp("officer")
    account = Account(GaussianDP(0.5))
    noisy = account.release(Gaussian(sigma=4.0, l2_sensitivity=1.0), np.full(4, 100.0))
    measured = [{"columns": ["age"], "values": noisy, "noise_std": std} for std in (4.0, 9.0)]
    claim = Certificate(
        name="largest error", statement="s", alpha=0.1, confidence=0.95, query_class="all", unit=SHARE
    )
    synthetic = Release.of(account, {"measurements": measured}, method="rows", certificates=[claim])
    files = [folder / "rows.holdfast", folder / "model.holdfast"]
    synthetic.save(files[0])
    model().save(files[1])
    attacks = [FakeAttack(attack=f"attack {place}") for place in range(5)]
    return Dossier.of_files(files, attacks=attacks, audience="internal").to_json(), files


SOFTENED: dict[str, Callable[[Any], Any]] = {
    "releases: a unit": lambda r: r["releases"][0]["certificates"][0].update(unit="records"),
    "releases: no unit": lambda r: r["releases"][0]["certificates"][0].update(unit=""),
    "releases: the noisiest measurement": lambda r: r["releases"][0]["utility"]["rows"][0].update(worst=1.0),
    "releases: how often": lambda r: r["releases"][0]["utility"]["rows"][0].update(times=1),
    "releases: a marginal": lambda r: r["releases"][0]["utility"]["rows"].clear(),
    "releases: why no intervals": lambda r: r["releases"][1]["utility"].update(no_intervals="not needed"),
    "not_tested: a line": lambda r: r["not_tested"].pop(),
    "not_tested: all": lambda r: r["not_tested"].clear(),
    "picture: how many are not drawn": lambda r: r["picture"].update(left_out=0),
    "promise: the factor": lambda r: r["promise"]["at"].update(odds=1.1),
    "promise: its name": lambda r: r["promise"]["at"].update(epsilon=0.1),
    "story: what adds nothing": lambda r: r["story"][1].update(adds=False),
    "story: the total": lambda r: r["story"][1]["so_far"].update(epsilon=0.1),
    "story: a release": lambda r: r["story"].pop(),
}


@pytest.mark.parametrize("name", SOFTENED)
def test_what_an_officer_reads_cannot_be_softened(
    read_by_an_officer: tuple[dict[str, Any], list[Path]], tmp_path: Path, name: str
) -> None:
    """D8: units, merged marginals, what was not tested, the story: each is built again from the releases alone."""
    written, files = read_by_an_officer
    record = json.loads(json.dumps(written))
    SOFTENED[name](record)
    (tmp_path / "page.html").write_text(render(Record.from_json(record)), encoding="utf-8")
    found = verify_dossier(tmp_path / "page.html", releases=files)
    assert [text.partition(":")[0] for text in found.problems] == [name.partition(":")[0]], found.summary()


def test_what_is_not_softened_has_no_problem(
    read_by_an_officer: tuple[dict[str, Any], list[Path]], tmp_path: Path
) -> None:
    written, files = read_by_an_officer
    (tmp_path / "page.html").write_text(render(Record.from_json(written)), encoding="utf-8")
    assert not verify_dossier(tmp_path / "page.html", releases=files).problems


class Homemade(Gaussian):
    """A mechanism that holdfast does not know."""


def test_an_unknown_mechanism_voids_the_promise() -> None:
    """D6: somebody's own mechanism is an assumption, in red."""
    account = Account(ZCDP(1.0))
    value = account.release(Homemade(sigma=9.0, l2_sensitivity=1.0), [3.0])
    made = Dossier(Release.of(account, value, method="a count"))
    assert any(":Homemade'" in one.text and one.voids for one in made.record.doubts)
    assert '<li class="red">the mechanism' in made.html()

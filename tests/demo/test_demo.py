"""The demo goes through everything, pays once, and its pages say what they may say to whom."""

from __future__ import annotations

import functools
import json
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast._cli.app import app
from holdfast._demo import Demo, run_broken_demo, run_demo
from holdfast._demo.steps import (
    BROKEN_RUNS,
    DATASET,
    DELTA,
    RELEASE_LIMIT,
    is_ledger_of_demo,
    saved_or_new_release,
)
from holdfast._demo.tour import OUTPUTS
from holdfast.dossier import DossierVerification, verify_dossier
from holdfast.errors import LedgerError, ParameterError
from holdfast.ledger import Ledger
from holdfast.privacy import PureDP
from holdfast.release import Release
from tests.studies.size import trials

pytestmark = pytest.mark.slow
BANNER = "It must not be published"
SMALL: dict[str, Any] = {
    "columns": ("education", "sex", "income"),
    "method": "tree",
    "count": 300,
    "runs": 300,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """One small run, shared; the full size is the same code."""
    return run_demo(tmp_path_factory.mktemp("demo"), **SMALL)


def record(page: Path) -> dict[str, Any]:
    from holdfast.dossier._page import record_of

    found: dict[str, Any] = record_of(page.read_text(encoding="utf-8"))
    return found


def test_the_public_page_holds_nothing_internal(made: Demo) -> None:
    said, text = record(made.page), made.page.read_text(encoding="utf-8")
    assert said["audience"] == "public"
    assert [one["kind"] for one in said["tried"]] == ["audit"]
    assert said["accuracy"] == []
    assert all(audit["scores"] == {} for audit in said["audits"])
    assert BANNER not in text
    assert len(text) < 400_000


def test_the_internal_page_holds_the_rest_and_says_so(made: Demo) -> None:
    said = record(made.internal)
    assert said["audience"] == "internal"
    assert [one["kind"] for one in said["tried"]] == ["audit", "attack", "attack", "attack"]
    assert len(said["accuracy"]) == 3
    assert BANNER in made.internal.read_text(encoding="utf-8")


def test_each_release_costs_what_it_says_and_both_stay_below_the_limit(made: Demo) -> None:
    with Ledger.open(made.ledger, read_only=True) as ledger:
        spent, left = ledger.spent(DATASET).as_zcdp(), ledger.remaining(DATASET).as_zcdp()
        charges = [entry for entry in ledger.history() if entry.kind == "charge"]
    assert spent is not None
    assert left is not None
    allowed = ledger_amount(made.ledger)
    assert spent + left == allowed
    each = [Release.load(path).guarantee for path in (made.model, made.synthetic)]
    assert all(one.epsilon(DELTA) <= RELEASE_LIMIT.epsilon(DELTA) * (1 + 1e-9) for one in each)
    # Nearly all of both accounts is spent, and nothing but them.
    assert 0.99 * sum(float(one.curve.as_zcdp() or 0) for one in each) < spent <= allowed
    assert {entry.body["account"] for entry in charges} == {"income model", "synthetic table"}


def ledger_amount(path: Path) -> Any:
    with Ledger.open(path, read_only=True) as ledger:
        return ledger.dataset(DATASET).currency.promise(ledger.dataset(DATASET).amount).as_zcdp()


def test_the_noise_is_secure(made: Demo) -> None:
    assert all(Release.load(path).private for path in (made.model, made.synthetic))


def test_it_verifies_and_an_edit_shows(made: Demo, tmp_path: Path) -> None:
    assert made.verification.ok
    assert not made.contradictions
    files = [made.model, made.synthetic]
    forged = tmp_path / "forged.html"
    forged.write_text(made.page.read_text(encoding="utf-8").replace("A. Officer", "B. Officer"))
    assert not verify_dossier(forged, releases=files, ledger=made.ledger).ok
    assert not verify_dossier(made.page, releases=[made.model, made.model], ledger=made.ledger).ok


def test_running_again_pays_nothing_and_changes_no_release(made: Demo, tmp_path: Path) -> None:
    """In a copy, and with little evidence: what is asked is what the releases cost."""
    before = [path.read_bytes() for path in (made.model, made.synthetic)]
    with Ledger.open(made.ledger, read_only=True) as ledger:
        paid = [entry for entry in ledger.history() if entry.kind != "page"]
    folder = shutil.copytree(made.page.parent, tmp_path / "again")
    again = run_demo(folder, **SMALL | {"count": 100, "runs": 64})
    assert [path.read_bytes() for path in (again.model, again.synthetic)] == before
    with Ledger.open(again.ledger, read_only=True) as ledger:
        assert [entry for entry in ledger.history() if entry.kind != "page"] == paid
    assert again.verification.ok


def test_what_was_spent_and_lost_is_not_spent_again(made: Demo, tmp_path: Path) -> None:
    def never(account: Any) -> Release[Any]:
        raise AssertionError

    with Ledger.open(made.ledger) as ledger:
        with pytest.raises(LedgerError, match="new folder"):
            saved_or_new_release(
                ledger, tmp_path / "gone.holdfast", name="income model", purpose="", make=never
            )
        # A release that another account paid for is not taken over.
        with pytest.raises(LedgerError, match="another ledger"):
            saved_or_new_release(ledger, made.model, name="somebody else", purpose="", make=never)


def test_the_columns_must_hold_the_target(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="income"):
        run_demo(tmp_path / "none", columns=("sex",))
    assert not (tmp_path / "none").exists()


def test_the_page_shows_an_audit_that_can_fail(made: Demo) -> None:
    (tried,) = record(made.page)["tried"]
    assert tried["name"] == "transcript"
    assert tried["numbers"]["can_fail"]
    assert 1.2 < tried["numbers"]["kappa"] < 3.0
    assert tried["numbers"]["rows"] == "generated"
    assert record(made.page)["also_run"] == 3  # the attacks, which stay inside
    assert "times too little noise" in made.summary
    assert "too little noise would have been noticed by the audit" in made.page.read_text(encoding="utf-8")


def test_a_third_of_the_noise_turns_the_page_red(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a share of the runs of the audit, but for a deep run."""
    fewer = functools.partial(run_broken_demo, runs=trials(BROKEN_RUNS, share=3))
    monkeypatch.setattr(import_module("holdfast._demo"), "run_broken_demo", fewer)
    shown = CliRunner().invoke(app, ["demo", "--broken", "--output", str(tmp_path)])
    assert shown.exit_code == 1
    assert "CONTRADICTED" in shown.output
    assert "CONTRADICTED. The promise on this page does not hold." in (tmp_path / "dossier.html").read_text(
        encoding="utf-8"
    )


def command(made: Demo, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(import_module("holdfast._demo"), "run_demo", lambda output, step: made)
    return CliRunner().invoke(app, ["demo", "--output", str(made.page.parent)])


def test_the_command_prints_one_screen_with_every_path(made: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = command(made, monkeypatch)
    assert shown.exit_code == 0, shown.output
    assert len(shown.output.splitlines()) <= 24
    for path in (made.page, made.internal, made.rows, made.ledger, made.model, made.synthetic):
        assert str(path) in shown.output
    assert "page, releases and ledger agree" in shown.output
    verify = next(line for line in shown.output.splitlines() if line.startswith("check it:"))
    checked = CliRunner().invoke(app, [*verify.split()[3:], "--json"])
    assert checked.exit_code == 0
    assert json.loads(checked.output)["ok"]


@pytest.mark.parametrize(
    ("contradictions", "problems", "code"),
    [((), (), 0), (("the audit refutes the promise",), (), 1), ((), ("another record",), 1)],
    ids=["none", "a promise", "a page"],
)
def test_a_contradiction_ends_with_1(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    contradictions: tuple[str, ...],
    problems: tuple[str, ...],
    code: int,
) -> None:
    """However it came about: nothing is run for it."""
    files = {name: tmp_path / name for name in ("page", "internal", "model", "synthetic", "rows", "ledger")}
    verification = DossierVerification(checked=("the seal", "the ledger", "the releases"), problems=problems)
    ended = Demo(**files, contradictions=contradictions, verification=verification, summary="")
    assert command(ended, monkeypatch).exit_code == code


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_file_of_somebody_else_is_not_written_over(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a thesis")
    with pytest.raises(ParameterError, match="new folder"):
        run_demo(tmp_path, **SMALL)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_ledger_of_somebody_else_takes_no_entry_of_the_demo(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.dataset("clinic", limit=PureDP(1.0))
        before = ledger.head
    (tmp_path / "dossier.html").write_text("a thesis")
    assert not is_ledger_of_demo(tmp_path / "ledger.db")
    with pytest.raises(ParameterError, match="new folder"):
        run_demo(tmp_path, **SMALL)
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert ledger.head == before
    assert (tmp_path / "dossier.html").read_text() == "a thesis"

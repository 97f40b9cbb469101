"""A step is done only where its output is whole and its own; what it found is found again by every later run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from holdfast._cli.app import app
from holdfast.ledger import Ledger
from holdfast.plan._release_plan import STEP_KINDS, ReleasePlan
from holdfast.release import Release
from tests.cli.arguments import PLAN, files, toml
from tests.dossier.dossier_samples import counts

pytestmark = pytest.mark.slow
OUTPUTS = {name: str(settings["output"]) for name, settings in PLAN.items() if name != "plan"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Every file of a folder in which the plan was run, whose audit refutes the model."""
    folder = tmp_path_factory.mktemp("plan")
    files(folder)
    np.save(folder / "rows.npy", np.zeros((5, 64)))
    (folder / "plan.toml").write_text(toml(_contradicted()))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(str(folder))
        shown = _run()
        assert shown.exit_code == 1, shown.output
    return {
        path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name != "closed"
    }


def _contradicted() -> dict[str, dict[str, Any]]:
    plan = {name: dict(settings) for name, settings in PLAN.items()}
    plan["audit"] |= {"canaries": 60, "rows": "public"}
    plan["fit"]["epsilon"] = plan["synth"]["epsilon"] = 0.45
    return plan


@pytest.fixture
def folder(made: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, data in made.items():
        (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def _run(*words: str) -> Result:
    return CliRunner().invoke(app, ["run", "plan.toml", *words])


def _charges() -> int:
    with Ledger.open("budget.db", read_only=True) as ledger:
        return [entry.kind for entry in ledger.history()].count("charge")


def test_every_kind_of_step_is_in_the_plan() -> None:
    assert set(OUTPUTS) == {kind.kind for kind in STEP_KINDS}


@pytest.mark.parametrize("words", [(), ("--json",), ("--force",)])
def test_a_contradiction_is_said_by_every_run(folder: Path, words: tuple[str, ...]) -> None:
    paid, audit = _charges(), (folder / "pu.json").read_bytes()
    shown = _run(*words)
    assert shown.exit_code == 1, shown.output
    assert "CONTRADICTED" in shown.output
    if "--json" in words:
        told = json.loads(shown.stdout)
        assert told["finding"]
        assert [step["name"] for step in told["steps"] if step["finding"]] == ["u"]
    assert (_charges(), (folder / "pu.json").read_bytes()) == (paid, audit)


def test_a_contradiction_is_said_without_the_page_that_shows_it(folder: Path) -> None:
    """The page repeats what its audits found; here there is none."""
    plan = _contradicted()
    del plan["dossier"]
    (folder / "plan.toml").write_text(toml(plan))
    shown = _run()
    assert shown.exit_code == 1, shown.output
    assert "done, CONTRADICTED" in shown.output


def _torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _one_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def _foreign(path: Path) -> None:
    path.write_text('{"verdict": "consistent", "result": {}}')


@pytest.mark.parametrize("harm", [_torn, _empty, _one_bit, _foreign])
@pytest.mark.parametrize("kind", OUTPUTS)
def test_what_is_not_whole_is_not_done_and_not_written_over(folder: Path, kind: str, harm: Any) -> None:
    output = folder / OUTPUTS[kind]
    harm(output)
    left, paid = output.read_bytes(), _charges()
    for words in ((), ("--dry-run",)):
        shown = _run(*words)
        assert shown.exit_code == 2, shown.output
        assert "--force" in shown.output
    assert (output.read_bytes(), _charges()) == (left, paid)


@pytest.mark.parametrize("kind", ["fit", "synth"])
def test_a_paid_step_that_asks_something_else_is_not_done(folder: Path, kind: str) -> None:
    plan = _contradicted()
    plan[kind]["epsilon"] = 0.4
    (folder / "plan.toml").write_text(toml(plan))
    left, paid = (folder / OUTPUTS[kind]).read_bytes(), _charges()
    for words in ((), ("--dry-run",), ("--force",)):
        shown = _run(*words)
        assert shown.exit_code == 2, shown.output
        assert "give the step another name and output" in " ".join(shown.output.split())
    assert ((folder / OUTPUTS[kind]).read_bytes(), _charges()) == (left, paid)


@pytest.mark.parametrize("kind", ["attack", "audit", "dossier"])
def test_what_spends_nothing_is_made_anew_on_request(folder: Path, kind: str) -> None:
    _torn(folder / OUTPUTS[kind])
    assert _run("--force").exit_code == 1
    assert _run().exit_code == 1


def test_a_verdict_that_was_edited_is_not_believed(folder: Path) -> None:
    record = json.loads((folder / "pu.json").read_text())
    assert record["verdict"] == "refuted"
    (folder / "pu.json").write_text(json.dumps(record | {"verdict": "consistent"}))
    shown = _run()
    assert shown.exit_code == 2, shown.output


def test_a_release_that_the_ledger_did_not_close_is_not_what_was_paid_for(folder: Path) -> None:
    """The account that it names paid for another one."""
    release = Release.load("pm.holdfast")
    value = dict(release.value)
    name = next(name for name, part in value.items() if isinstance(part, np.ndarray) and part.size)
    value[name] = value[name] + 1
    Release(value=value, guarantee=release.guarantee, provenance=release.provenance).save(
        "pm.holdfast", overwrite=True
    )
    shown = _run("--dry-run")
    assert shown.exit_code == 2, shown.output
    assert "model.holdfast" in shown.output or "pm.holdfast" in shown.output


def test_a_plan_whose_file_is_renamed_is_told_its_former_name(folder: Path) -> None:
    """--force would pay again for what is there."""
    text = (folder / "plan.toml").read_text()
    (folder / "plan.toml").rename(folder / "april.toml")
    shown = CliRunner().invoke(app, ["run", "april.toml"])
    assert shown.exit_code == 2
    assert 'write name = "plan" into [plan]' in shown.output
    assert "--force" not in shown.output
    (folder / "april.toml").write_text(text.replace("[plan]", '[plan]\nname = "plan"'))
    before = _charges()
    assert CliRunner().invoke(app, ["run", "april.toml"]).exit_code == 1
    assert _charges() == before


@pytest.mark.parametrize("kind", ["attack", "audit"])
def test_a_step_that_asks_something_else_is_not_done(folder: Path, kind: str) -> None:
    plan = _contradicted()
    plan[kind] |= {"attacks": ["confidence"]} if kind == "attack" else {"canaries": 30}
    (folder / "plan.toml").write_text(toml(plan))
    shown = _run()
    assert shown.exit_code == 2, shown.output
    assert OUTPUTS[kind] in shown.output
    assert _run("--force").exit_code in (0, 1)


def test_a_page_for_others_is_not_drawn_over(folder: Path) -> None:
    plan = _contradicted()
    plan["dossier"] |= {"audience": "internal"}
    (folder / "plan.toml").write_text(toml(plan))
    before = (folder / "pd.html").read_bytes()
    assert _run().exit_code == 2
    assert (folder / "pd.html").read_bytes() == before
    assert _run("--force").exit_code == 1


def test_evidence_about_another_release_is_not_done(folder: Path) -> None:
    """The steps and their settings are the same, and what they judged is no longer there."""
    plan = ReleasePlan.load(folder / "plan.toml")
    steps = {step.name: step for step in plan.steps}
    with Ledger.open("budget.db") as ledger:
        assert all(steps[name].stored_outcome(plan.setting, ledger, steps) for name in ("a", "u"))
        counts().save(folder / OUTPUTS["fit"], overwrite=True)
        assert not any(steps[name].stored_outcome(plan.setting, ledger, steps) for name in ("a", "u"))

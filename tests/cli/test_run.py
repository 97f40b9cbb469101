"""A plan shows its cost first, spends no more, and a run that was killed does not pay twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner, Result

from holdfast._cli.app import app
from holdfast.data import Categorical, Numeric, Schema
from holdfast.errors import BudgetExceeded, FormatError
from holdfast.ledger import Ledger
from holdfast.ledger._jobs.keeping import Shelf
from holdfast.plan._release_plan import ReleasePlan
from holdfast.privacy import ZCDP, ApproxDP, Gaussian
from holdfast.privacy._account.resume import ResumableAccount
from holdfast.release import Release

PLAN = """
[plan]
name = "autumn"
ledger = "budget.db"
dataset = "clinic"
source = "clinic.parquet"
schema = "clinic.toml"
approver = "R. Officer"

[[step]]
do = "fit"
name = "model"
target = "ill"
method = "{method}"
epsilon = {epsilon}
delta = {delta}
output = "model.holdfast"

[[step]]
do = "dossier"
name = "page"
releases = ["model"]
output = "page.html"
"""


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return write(tmp_path)


def write(folder: Path, *, method: str = "output", epsilon: float = 0.5, delta: float = 1e-6) -> Path:
    rng = np.random.default_rng(3)
    age = rng.integers(0, 100, 1500)
    ill = np.where(age + rng.normal(0, 10, 1500) > 50, "yes", "no")
    parquet.write_table(pa.table({"age": age, "ill": ill}), folder / "clinic.parquet")
    Schema([Numeric("age", 0, 100), Categorical("ill", ["no", "yes"])]).save(folder / "clinic.toml")
    with Ledger.create(folder / "budget.db") as ledger:
        ledger.dataset("clinic", limit=ApproxDP(1.0, 1e-6), currency="gdp", adjacency="replace")
    path = folder / "plan.toml"
    path.write_text(PLAN.format(method=method, epsilon=epsilon, delta=delta))
    return path


def spent(plan: Path) -> Any:
    with Ledger.open(plan.parent / "budget.db", read_only=True) as ledger:
        ledger.verify().require()
        return ledger.spent("clinic")


def test_a_dry_run_shows_the_cost_and_spends_nothing(plan: Path) -> None:
    shown = run("run", plan, "--dry-run")
    assert shown.exit_code == 0, shown.output
    assert "epsilon 0.5 at delta 1e-06" in shown.output
    assert "left afterwards epsilon 0.8" in shown.output
    assert not (plan.parent / "model.holdfast").exists()
    assert spent(plan).epsilon(1e-6) == 0
    told = json.loads(run("run", plan, "--dry-run", "--json").stdout)
    assert told["covered"]
    assert [step["do"] for step in told["steps"]] == ["fit", "dossier"]


def test_a_plan_runs_and_running_again_pays_nothing(plan: Path) -> None:
    shown = run("run", plan)
    assert shown.exit_code == 0, shown.output
    assert shown.output.index("total") < shown.output.index("fit model")  # the cost comes first
    paid = spent(plan)
    assert paid.epsilon(1e-6) == pytest.approx(0.5, rel=1e-3)
    model = (plan.parent / "model.holdfast").read_bytes()
    again = run("run", plan)
    assert again.exit_code == 0, again.output
    assert "(done)" in again.output
    assert (plan.parent / "model.holdfast").read_bytes() == model
    assert repr(spent(plan)) == repr(paid)
    check = run(
        "verify",
        plan.parent / "page.html",
        "--release",
        plan.parent / "model.holdfast",
        "--ledger",
        plan.parent / "budget.db",
        "--recompute",
    )
    assert check.exit_code == 0, check.output
    assert "R. Officer" in (plan.parent / "page.html").read_text(encoding="utf-8")


def test_a_plan_beyond_the_limit_exits_with_3(tmp_path: Path) -> None:
    plan = write(tmp_path, epsilon=1.5)
    for arguments in (("run", plan), ("run", plan, "--dry-run")):
        shown = run(*arguments)
        assert shown.exit_code == 3, shown.output
        assert "not covered" in shown.output
    assert spent(plan).epsilon(1e-6) == 0


def killed(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def test_killed_after_the_noise_the_same_model_comes_back(
    plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The charge and the value are in the ledger, the file is not there yet."""
    drawn: list[Any] = []

    def keep(shelf: Shelf, account: str, release: Release[Any]) -> None:
        drawn.append(release.value["coef"])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Shelf, "keep", keep)
        run("run", plan)
    paid = spent(plan)
    assert paid.epsilon(1e-6) > 0.4
    assert not (plan.parent / "model.holdfast").exists()
    assert "begun" in run("run", plan, "--dry-run").output
    shown = run("run", plan)
    assert shown.exit_code == 0, shown.output
    assert repr(spent(plan)) == repr(paid)
    assert np.array_equal(Release.load(plan.parent / "model.holdfast").value["coef"], drawn[0])


def test_killed_before_the_account_is_closed_it_is_closed_later(
    plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "close_account", killed)
        run("run", plan)
    paid = spent(plan)
    assert run("run", plan).exit_code == 0
    assert repr(spent(plan)) == repr(paid)
    with Ledger.open(plan.parent / "budget.db", read_only=True) as ledger:
        assert "close" in [entry.kind for entry in ledger.history()]


def test_killed_while_it_drew_step_by_step_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Noisy gradients are gone with the process: another run would have to pay again."""
    plan = write(tmp_path, method="noisy_gd")
    with monkeypatch.context() as patch:
        patch.setattr(Shelf, "keep", killed)
        run("run", plan)
    paid = spent(plan)
    shown = run("run", plan)
    assert shown.exit_code == 2, shown.output
    assert "give the step another name" in shown.output
    assert repr(spent(plan)) == repr(paid)
    plan.write_text(
        plan.read_text().replace('name = "model"', 'name = "model 2"').replace('["model"]', '["model 2"]')
    )
    shown = run("run", plan)
    assert shown.exit_code == 0, shown.output


def test_a_lost_output_is_not_paid_for_again(plan: Path) -> None:
    assert run("run", plan).exit_code == 0
    (plan.parent / "model.holdfast").unlink()
    shown = run("run", plan)
    assert shown.exit_code == 2
    assert "is gone" in shown.output


def test_a_foreign_output_is_not_overwritten(plan: Path) -> None:
    from tests.dossier.dossier_samples import counts

    counts().save(plan.parent / "model.holdfast")
    shown = run("run", plan)
    assert shown.exit_code == 2
    assert "new file" in shown.output
    assert spent(plan).epsilon(1e-6) == 0


def test_a_refuted_audit_ends_with_1(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(plan.parent)
    np.save(plan.parent / "rows.npy", np.zeros((5, 64)))
    (plan.parent / "leaky_plan_module.py").write_text("def train(rows):\n    return rows.sum(axis=0)\n")
    text = plan.read_text().replace(
        '[[step]]\ndo = "dossier"',
        '[[step]]\ndo = "audit"\nname = "check"\nclaim = "model"\nfunction = "leaky_plan_module:train"\n'
        'data = "rows.npy"\nrows = "public"\ncanaries = 60\noutput = "audit.json"\n\n[[step]]\ndo = "dossier"',
    )
    plan.write_text(text.replace('releases = ["model"]', 'releases = ["model"]\naudits = ["check"]'))
    shown = run("run", plan)
    assert shown.exit_code == 1, shown.output
    assert "CONTRADICTED" in (plan.parent / "page.html").read_text(encoding="utf-8")


ALL = """
[[step]]
do = "synth"
name = "rows"
method = "independent"
epsilon = 0.4
delta = 1e-6
output = "rows.holdfast"

[[step]]
do = "attack"
name = "members"
model = "model"
members = "clinic.parquet"
non_members = "others.parquet"
target = "ill"
attacks = ["loss", "confidence"]
output = "attacks.json"

[[step]]
do = "dossier"
name = "inside"
releases = ["model", "rows"]
attacks = ["members"]
audience = "internal"
output = "internal.html"
"""


@pytest.mark.slow
def test_a_model_rows_attacks_and_both_editions_in_one_plan(plan: Path) -> None:
    age = np.random.default_rng(4).integers(0, 100, 300)
    others = pa.table({"age": age, "ill": np.where(age > 50, "yes", "no")})
    parquet.write_table(others, plan.parent / "others.parquet")
    plan.write_text(plan.read_text() + ALL)
    shown = run("run", plan, "--json")
    assert shown.exit_code == 0, shown.output
    assert [step["name"] for step in json.loads(shown.stdout)["done"]] == [
        "model",
        "page",
        "rows",
        "members",
        "inside",
    ]
    paid = spent(plan)
    files = [plan.parent / name for name in ("model.holdfast", "rows.holdfast")]
    check = run(
        "verify",
        plan.parent / "internal.html",
        "--release",
        files[0],
        "--release",
        files[1],
        "--ledger",
        plan.parent / "budget.db",
        "--recompute",
    )
    assert check.exit_code == 0, check.output
    page = (plan.parent / "internal.html").read_text(encoding="utf-8")
    for words in (
        "attack: loss",
        "a synthetic table of",
        "What noise does to each marginal",
        "must not be published",
    ):
        assert words in page
    again = run("run", plan)
    assert again.exit_code == 0, again.output
    assert repr(spent(plan)) == repr(paid)


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace('do = "fit"', 'do = "magic"'),
        lambda text: text.replace('target = "ill"', 'tarket = "ill"'),
        lambda text: text.replace('target = "ill"\n', ""),
        lambda text: text.replace('name = "page"', 'name = "model"'),
        lambda text: text.replace("[plan]", "[plot]"),
        lambda text: text.replace('ledger = "budget.db"\n', ""),
        lambda text: text.replace('dataset = "clinic"', 'dataset = "other"'),
        lambda text: text + "[more]\n",
        lambda text: text + "[[",
        lambda text: text.replace("[[step]]", "[step]", 1).split("[[step]]")[0],
    ],
)
def test_a_bad_plan_exits_with_2_and_spends_nothing(plan: Path, edit: Any) -> None:
    before = plan.read_text()
    plan.write_text(edit(before))
    assert plan.read_text() != before
    shown = run("run", plan)
    assert shown.exit_code == 2, shown.output
    assert "Traceback" not in shown.output
    assert spent(plan).epsilon(1e-6) == 0


def test_a_plan_is_read_from_its_own_folder(plan: Path) -> None:
    loaded = ReleasePlan.load(plan)
    assert loaded.setting.ledger == plan.parent / "budget.db"
    plan.write_bytes(b"\xff")
    with pytest.raises(FormatError):
        ReleasePlan.load(plan)


# Accounts that are used again.


def test_a_second_run_is_given_what_the_first_drew(tmp_path: Path) -> None:
    noise = Gaussian(sigma=1.0, l2_sensitivity=1.0)
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.dataset("d", limit=ZCDP(1.0))

        def again() -> ResumableAccount:
            return ResumableAccount.of(ledger.account("d", name="a", limit=ZCDP(1.0)), None)

        first = again()
        one = first.release(noise, [1, 2])
        assert first.remaining() == ZCDP(0.5)
        second = again()
        assert second.remaining() == ZCDP(1.0)  # as the first run saw it
        assert np.array_equal(second.release(noise, [1, 2]), one)
        assert second.remaining() == ZCDP(0.5)
        second.release(noise, [1, 2])
        assert ledger.spent("d") == ZCDP(1.0)
        # Nothing that a run believes to remain is more than the ledger allows.
        third = again()
        for _ in range(2):
            third.release(noise, [1, 2])
        with pytest.raises(BudgetExceeded):
            third.release(noise, [1, 2])
        assert ledger.spent("d") == ZCDP(1.0)


def test_shares_are_resumed_too_and_permits_are_not(tmp_path: Path) -> None:
    noise = Gaussian(sigma=2.0, l2_sensitivity=1.0)
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.dataset("d", limit=ZCDP(0.5))

        def shares() -> Any:
            return ResumableAccount.of(ledger.account("d", name="a", limit=ZCDP(0.5)), None).split(0.5, 0.5)

        left, right = shares()
        values = left.release(noise, [1]), right.release(noise, [1])
        left_again, right_again = shares()
        assert left_again.release(noise, [1]) == values[0]
        assert right_again.release(noise, [1]) == values[1]
        assert ledger.spent("d") == ZCDP(0.25)
        right_again.permit(noise, times=1).release([1])
        again = shares()[1]
        assert again.release(noise, [1]) == values[1]
        with pytest.raises(BudgetExceeded):
            again.permit(noise, times=1)

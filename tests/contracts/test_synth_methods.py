"""What every private synthesiser must satisfy; a new entry of METHODS is picked up without further code."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from holdfast.data import Categorical, Identifier, Schema, open_table
from holdfast.errors import AdjacencyError, HoldfastError, NotPrivateWarning
from holdfast.noise.source import Source
from holdfast.privacy import Account, ApproxDP, PrivacyUnit, PureDP
from holdfast.privacy.account.resume import ResumableAccount
from holdfast.synth import METHODS, Synthesizer, Workload, Zeros
from holdfast.synth.exact_counts import ExactCounts
from holdfast.synth.methods.method import Synthesis, SynthesisMethod
from holdfast.synth.rows.coded_rows import CodedRows

ROWS = 200
DOMAIN = {"a": 2, "b": 3, "c": 2}
WORKLOAD = Workload.of([("a", "b"), ("b", "c"), ("a", "b", "c")])
TELLTALE = "telltale"

each_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
each_way = pytest.mark.parametrize(
    ("method", "adjacency"),
    [(method, adjacency) for method in METHODS for adjacency in method.adjacencies],
    ids=lambda value: value if isinstance(value, str) else value.name,
)


def data(
    adjacency: str, *, rows: int = ROWS, seed: int = 0, names: str = "abc", users: int = 0
) -> ExactCounts:
    random = np.random.default_rng(seed)
    a = random.integers(0, 2, rows)
    drawn = {"a": a, "b": (a + random.integers(0, 2, rows)) % 3, "c": a}
    columns: list[Any] = [Categorical(name, [str(cell) for cell in range(DOMAIN[name])]) for name in names]
    frame: dict[str, Any] = {name: drawn[name].astype(str).astype(object) for name in names}
    if rows:
        frame[names[0]][0] = TELLTALE
    unit = PrivacyUnit.row()
    if users:
        columns.append(Identifier("who"))
        frame["who"] = (np.arange(rows) // users).astype(str)
        unit = PrivacyUnit.user("who", max_rows=users)
    public = max(rows // max(users, 1), 1) if adjacency == "add_remove" else None
    return ExactCounts(open_table(frame, Schema(columns, unit=unit, adjacency=adjacency, n_public=public)))


def account(
    method: SynthesisMethod,
    table: ExactCounts,
    *,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    seed: int | None = 1,
) -> Account:
    limit = PureDP(epsilon) if delta == 0 else ApproxDP(epsilon, delta)
    currency = "pure" if delta == 0 else method.currency
    return Account(limit, adjacency=table.adjacency, unit=table.unit, currency=currency, seed=seed)


def run(
    method: SynthesisMethod, table: ExactCounts, opened: Account, workload: Workload = WORKLOAD
) -> Synthesis:
    return method.fit(table, workload, account=opened)


def attempt(method: SynthesisMethod, table: ExactCounts, opened: Account) -> tuple[Synthesis | None, str]:
    """A synthesis, or the words of the refusal, in which no value of the data is."""
    try:
        return run(method, table, opened), ""
    except HoldfastError as refusal:
        words = str(refusal)
    assert TELLTALE not in words
    return None, words


def check(synthesis: Synthesis, domain: dict[str, int], rows: int = 50) -> np.ndarray:
    """A released distribution that can be asked and drawn from, without a hole in it."""
    model = synthesis.model
    assert dict(model.domain) == domain
    assert math.isfinite(model.total)
    assert model.total > 0
    for columns in [(name,) for name in domain] + [tuple(domain)]:
        projected = model.project(columns)
        assert projected.shape == tuple(domain[name] for name in columns)
        assert np.isfinite(projected).all()
        assert (projected >= -1e-6 * model.total).all()
        assert projected.sum() == pytest.approx(model.total, rel=1e-3)
    codes = np.asarray(model.sample(rows, Source(seed=3)))
    drawn = CodedRows(domain=domain, codes=codes)  # refuses codes outside the domain
    assert len(drawn) == rows
    for measurement in synthesis.measurements:
        assert np.isfinite(measurement.values).all()
        assert measurement.values.shape == tuple(domain[name] for name in measurement.columns)
    assert synthesis.theorem
    return codes


@each_way
def test_spends_no_more_than_its_limit_and_most_of_it(method: SynthesisMethod, adjacency: str) -> None:
    table = data(adjacency)
    opened = account(method, table)
    check(run(method, table, opened), DOMAIN)
    assert opened.spent().delta(1.0) <= 1e-6
    assert opened.spent().epsilon(1e-6) > 0.5, "a method spends what it is given"
    assert all(entry.charge.arithmetic == "strict" for entry in opened.journal.entries)


@each_method
def test_refuses_an_account_of_another_adjacency_or_unit(method: SynthesisMethod) -> None:
    table = data("replace") if "replace" in method.adjacencies else data(method.adjacencies[0])
    other = "add_remove" if table.adjacency.value == "replace" else "replace"
    wrong = Account(ApproxDP(1.0, 1e-6), adjacency=other, currency=method.currency, seed=1)
    user = Account(ApproxDP(1.0, 1e-6), adjacency=table.adjacency, unit=PrivacyUnit.user("who", max_rows=2),
                   currency=method.currency, seed=1)  # fmt: skip
    for opened in (wrong, user):
        with pytest.raises(AdjacencyError) as refusal:
            run(method, table, opened)
        assert not opened.journal.entries
        assert TELLTALE not in str(refusal.value)


@each_method
def test_users_are_protected_as_a_whole_or_refused(method: SynthesisMethod) -> None:
    adjacency = method.adjacencies[-1]
    alone, together = data(adjacency), data(adjacency, users=4)
    opened = account(method, together)
    synthesis, words = attempt(method, together, opened)
    if synthesis is None:
        assert not opened.journal.entries
        assert "max_rows" in words
        return
    check(synthesis, DOMAIN)
    assert opened.spent().delta(1.0) <= 1e-6
    single = run(method, alone, account(method, alone))
    if synthesis.measurements and single.measurements:
        quietest = [min(one.noise_std for one in made.measurements) for made in (single, synthesis)]
        assert quietest[1] > 2 * quietest[0], "four rows of one user need four times the noise"


@each_method
@pytest.mark.parametrize("rows", [0, 1])
def test_an_empty_table_and_one_row(method: SynthesisMethod, rows: int) -> None:
    table = data("add_remove" if "add_remove" in method.adjacencies else "replace", rows=rows)
    opened = account(method, table)
    synthesis, words = attempt(method, table, opened)
    # Under replace the number of rows is public, and a method may ask for some.
    assert synthesis is not None or table.adjacency.count_is_public, words
    if synthesis is not None:
        check(synthesis, DOMAIN)


@each_method
def test_one_column(method: SynthesisMethod) -> None:
    table = data(method.adjacencies[0], names="b")
    check(run(method, table, account(method, table), Workload.of([("b",)])), {"b": 3})


@each_method
@pytest.mark.parametrize("epsilon", [0.01, 100.0])
def test_small_and_large_budgets_work(method: SynthesisMethod, epsilon: float) -> None:
    table = data(method.adjacencies[0])
    opened = account(method, table, epsilon=epsilon)
    check(run(method, table, opened), DOMAIN)
    assert opened.spent().delta(epsilon) <= 1e-6


@each_method
def test_a_seed_repeats_the_run(method: SynthesisMethod) -> None:
    table = data(method.adjacencies[0])
    first, second = (check(run(method, table, account(method, table)), DOMAIN) for _ in range(2))
    assert np.array_equal(first, second)
    other = [check(run(method, table, account(method, table, seed=seed)), DOMAIN) for seed in (2, 3)]
    assert not all(np.array_equal(first, codes) for codes in other)


@each_method
def test_a_job_that_runs_again_repeats_itself_and_pays_once(method: SynthesisMethod) -> None:
    table = data(method.adjacencies[0])
    opened = account(method, table, seed=None)
    first = check(run(method, table, ResumableAccount.of(opened, "job")), DOMAIN)
    charges = len(opened.journal.entries)
    again = check(run(method, table, ResumableAccount.of(opened, "job")), DOMAIN)
    assert np.array_equal(first, again)
    assert len(opened.journal.entries) == charges
    assert {entry.charge.noise for entry in opened.journal.entries} == {"secure"}
    assert opened.spent().delta(1.0) <= 1e-6


@each_method
def test_pure_privacy_is_pure_or_refused(method: SynthesisMethod) -> None:
    table = data(method.adjacencies[0])
    opened = account(method, table, delta=0.0)
    if not method.pure:
        with pytest.raises(HoldfastError):
            run(method, table, opened)
        assert not opened.journal.entries
        return
    check(run(method, table, opened), DOMAIN)
    assert opened.spent().epsilon(0.0) <= 1.0


@each_method
def test_a_generous_budget_finds_the_table(method: SynthesisMethod) -> None:
    table = data(method.adjacencies[0], rows=2000)
    synthesis = run(method, table, account(method, table, epsilon=50.0))
    model = synthesis.model
    for name in DOMAIN:
        gap = np.abs(model.project((name,)) / model.total - table(name) / 2000)
        assert gap.max() < 0.2, f"{name} is off"


@each_method
def test_impossible_records_are_never_released(method: SynthesisMethod) -> None:
    zeros = Zeros(("a", "c"), [(0, 1), (1, 0)])
    table = data(method.adjacencies[0]).table
    made = Synthesizer(method=method.name, delta=1e-6, constraints=[zeros], workload=WORKLOAD, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        made.fit(table)
    rows = made.sample()
    assert rows["a"].to_pylist() == rows["c"].to_pylist()
    assert made.model_ is not None
    if method.zeros:
        assert made.model_.project(("a", "c"))[0, 1] <= 1e-6 * made.model_.total
    assert made.certificate_ is not None
    assert 0 < made.certificate_.alpha <= 1
    assert method.name in made.summary()

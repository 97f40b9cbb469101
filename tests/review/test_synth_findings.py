"""Findings S1 to S4 and S6: what certificates and intervals of synthetic rows may say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast.data import Categorical, Identifier, Numeric, Schema, open_table
from holdfast.errors import HoldfastError
from holdfast.privacy import ZCDP, Account, PrivacyUnit
from holdfast.release import Release
from holdfast.synth import (
    Answers,
    CertificateRequest,
    Conjunctions,
    Marginal,
    Predicates,
    Ranges,
    Synthesizer,
    Thresholds,
    Workload,
)

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::holdfast.errors.{name}")
    for name in ("AssumptionWarning", "BudgetWarning", "NotPrivateWarning")
]


def _shares(frame: dict[str, Any], schema: Schema, workload: Workload) -> list[NDArray[np.float64]]:
    """The true answers, one array per group: of every row, whoever it belongs to."""
    plain = Schema([column for column in schema.columns if column.name in schema.names])
    table = open_table({name: frame[name] for name in plain.names}, plain)
    return [
        group.answers(table.counts([group.columns])[0].astype(float)) / table.count()
        for group in workload.groups
    ]


def _hold(answers: Answers, truth: Sequence[NDArray[np.float64]]) -> bool:
    """Whether every interval contains what is true."""
    return all(
        bool(np.all((one.low <= exact) & (exact <= one.high)))
        for one, exact in zip(answers.groups, truth, strict=True)
    )


# S1: a release that was saved and loaded.

BITS = Schema([Categorical("a", [0, 1]), Categorical("b", [0, 1])])
EQUAL = {"a": np.arange(1000) % 2, "b": np.arange(1000) % 2}
"""Two columns that are equal in every row: columns drawn independently get each alone right."""
OTHER_GROUPS = {
    "predicates": Predicates(("a", "b"), values=[[[0, 0], [1, 1]]]),
    "conjunctions": Conjunctions(("a", "b"), order=1),
    "thresholds": Thresholds(("a", "b")),
    "ranges": Ranges(("a", "b")),
}


def _independent(workload: Workload, **parameters: Any) -> Synthesizer:
    made = Synthesizer(
        epsilon=5.0, delta=1e-6, method="independent", workload=workload, random_state=1, **parameters
    )
    return made.fit(EQUAL, BITS)


def _loaded(made: Synthesizer, folder: Path) -> Synthesizer:
    made.save(folder / "made.holdfast")
    return Synthesizer.from_release(Release.load(folder / "made.holdfast"))


def _told(answers: Answers) -> list[tuple[str, str, str, list[float], list[float], list[float]]]:
    return [
        (
            type(one.group).__name__,
            one.group.name,
            one.source,
            one.estimates.tolist(),
            one.low.tolist(),
            one.high.tolist(),
        )
        for one in answers.groups
    ]


@pytest.mark.parametrize("kind", OTHER_GROUPS)
def test_a_query_that_was_not_certified_has_no_interval_after_loading(tmp_path: Path, kind: str) -> None:
    loaded = _loaded(_independent(Workload([OTHER_GROUPS[kind]])), tmp_path)
    asked = loaded.answer(Workload([Marginal(("a", "b"))])).groups[0]
    assert asked.source == "none"


@pytest.mark.parametrize("kind", ["predicates", "conjunctions"])
def test_intervals_after_loading_contain_what_is_true(tmp_path: Path, kind: str) -> None:
    loaded = _loaded(_independent(Workload([OTHER_GROUPS[kind]])), tmp_path)
    answers = loaded.answer()
    assert _hold(answers, _shares(EQUAL, BITS, Workload([one.group for one in answers.groups])))


@pytest.mark.parametrize("kind", OTHER_GROUPS)
def test_answers_are_the_same_before_saving_and_after_loading(tmp_path: Path, kind: str) -> None:
    made = _independent(Workload([OTHER_GROUPS[kind]]))
    assert _told(_loaded(made, tmp_path).answer()) == _told(made.answer())


@pytest.mark.parametrize("certified", [None, Workload([Marginal(("a",)), Conjunctions(("a", "b"), order=2)])])
def test_a_mixed_workload_keeps_all_its_groups(tmp_path: Path, certified: Workload | None) -> None:
    groups = [Marginal(("b",)), Conjunctions(("a", "b"), order=2), Thresholds(("b",)), Ranges(("a",))]
    made = _independent(Workload(groups), certificate=CertificateRequest(workload=certified))
    assert _told(_loaded(made, tmp_path).answer()) == _told(made.answer())


# S2: a job that runs again under its key.

CLINIC = Schema([*(Categorical(name, [0, 1]) for name in "abcd"), Numeric("x", 0, 1, bins=2)])


def _clinic() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {
        "a": np.arange(600) % 2,
        "b": np.arange(600) % 2,
        "c": (rng.random(600) < 0.9).astype(int),
        "d": (rng.random(600) < 0.1).astype(int),
        "x": rng.uniform(0, 1, 600),
    }


ROWS = _clinic()
PAIRS = Workload.of([("a", "b"), ("c", "d")])
ONE = Workload.of([("a",)])
WIDER = Schema([*CLINIC.columns[:4], Numeric("x", 0, 10, bins=2)])
EXCHANGED = Schema([CLINIC["a"], CLINIC["b"], Categorical("c", [1, 0]), *CLINIC.columns[3:]])
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "certified": (
        {"certificate": CertificateRequest(workload=ONE)},
        {"certificate": CertificateRequest(workload=Workload.of([("a", "b")]))},
    ),
    "workload": ({"workload": ONE}, {"workload": Workload.of([("a", "b")])}),
    "columns": (
        {"columns": ["c"], "workload": Workload.of([("c",)]), "certificate": None},
        {"columns": ["d"], "workload": Workload.of([("d",)]), "certificate": None},
    ),
    "bounds": (
        {"columns": ["x"], "workload": Workload.of([("x",)])},
        {"columns": ["x"], "workload": Workload.of([("x",)]), "schema": WIDER},
    ),
    "categories": (
        {"columns": ["c"], "workload": Workload.of([("c",)])},
        {"columns": ["c"], "workload": Workload.of([("c",)]), "schema": EXCHANGED},
    ),
    "method": ({"method": "fem", "certificate": None}, {"method": "sep_fem", "certificate": None}),
    **{
        f"pair of {method}": (
            {
                "method": method,
                "columns": ["a", "b"],
                "workload": Workload.of([("a", "b")]),
                "certificate": None,
            },
            {
                "method": method,
                "columns": ["c", "d"],
                "workload": Workload.of([("c", "d")]),
                "certificate": None,
            },
        )
        for method in ("gaussian", "adaptive", "tree")
    },
    "option": (
        {"method": "mwem", "certificate": None},
        {"method": "mwem", "certificate": None, "options": {"passes": 1}},
    ),
    "option of a game": (
        {"method": "fem", "certificate": None},
        {"method": "fem", "certificate": None, "options": {"perturbation": 0.5}},
    ),
}


def _job(account: Account, parameters: dict[str, Any]) -> Synthesizer:
    usual: dict[str, Any] = {"method": "independent", "workload": PAIRS, "columns": ["a", "b", "c", "d"]}
    asked = usual | {name: value for name, value in parameters.items() if name != "schema"}
    return Synthesizer(key="job", **asked).fit(ROWS, parameters.get("schema", CLINIC), account=account)


@pytest.mark.parametrize("changed", CASES)
def test_a_key_gives_nothing_back_to_a_job_that_asks_something_else(changed: str) -> None:
    """The first job spends all there is, so that the second can only be refused or be given what is not its own."""
    account = Account(ZCDP(0.5), seed=1)
    first, second = CASES[changed]
    _job(account, first)
    refused = False
    try:
        _job(account, second)
    except HoldfastError:
        refused = True
    assert refused


@pytest.mark.parametrize("changed", ["columns", *(name for name in CASES if name.startswith("pair"))])
def test_intervals_under_a_used_key_are_about_their_own_columns(changed: str) -> None:
    account = Account(ZCDP(0.5), seed=1)
    first, second = CASES[changed]
    _job(account, first)
    try:
        made = _job(account, second)
    except HoldfastError:
        return
    assert _hold(made.answer(), _shares(ROWS, CLINIC, second["workload"]))


@pytest.mark.parametrize("changed", ["certified", "workload", "bounds", "categories"])
def test_a_certificate_under_a_used_key_is_true(changed: str) -> None:
    account = Account(ZCDP(0.5), seed=1)
    first, second = CASES[changed]
    _job(account, first)
    try:
        made = _job(account, second)
    except HoldfastError:
        return
    assert made.certificate_ is not None
    request = second.get("certificate", CertificateRequest())
    certified = request.workload or second.get("workload", PAIRS)
    truth = _shares(ROWS, second.get("schema", CLINIC), certified)
    answers = made.answer(certified)
    error = max(
        float(np.abs(one.estimates - exact).max()) for one, exact in zip(answers.groups, truth, strict=True)
    )
    assert error <= made.certificate_.alpha


def test_the_same_job_under_its_key_is_given_the_same_rows() -> None:
    account = Account(ZCDP(0.5), seed=1)
    first, second = (_job(account, {"method": "gaussian"}).sample() for _ in range(2))
    assert {name: list(values) for name, values in first.items()} == {
        name: list(values) for name, values in second.items()
    }


# S3: users who own more rows than are kept.

VISITS = {
    "who": np.concatenate([np.arange(900), np.repeat(np.arange(900, 1000), 50)]),
    "ill": np.concatenate([np.zeros(900, dtype=int), np.ones(5000, dtype=int)]),
}
"""900 users with one row and 100 with fifty: 84.7 % of the rows are ill, 10 % of the users."""
USERS = [("replace", 1, None), ("add_remove", 1, 1000), ("add_remove", 1, None), ("replace", 2, None)]


def _of_visits(adjacency: str, max_rows: int, n_public: int | None) -> Synthesizer:
    unit = PrivacyUnit.user("who", max_rows=max_rows)
    schema = Schema([Identifier("who"), Categorical("ill", [0, 1])], unit=unit)
    return Synthesizer(
        epsilon=5.0, delta=1e-6, method="independent", adjacency=adjacency, n_public=n_public, random_state=1
    ).fit(VISITS, schema)


def _names_the_bound(text: str, max_rows: int) -> bool:
    """As in "the table after at most 2 rows per user were kept"."""
    return re.search(rf"at most {max_rows} rows? (per|of)\b", text) is not None


@pytest.mark.parametrize(("adjacency", "max_rows", "n_public"), USERS)
def test_a_certificate_covers_the_whole_table_or_says_which_rows_it_means(
    adjacency: str, max_rows: int, n_public: int | None
) -> None:
    made = _of_visits(adjacency, max_rows, n_public)
    error = float(np.abs(made.answer().groups[0].estimates - [900 / 5900, 5000 / 5900]).max())
    assert made.release_.certificates
    false = [
        one.statement
        for one in made.release_.certificates
        if one.alpha < error and not _names_the_bound(one.statement, max_rows)
    ]
    assert not false


@pytest.mark.parametrize(("adjacency", "max_rows", "n_public"), USERS)
def test_answers_cover_the_whole_table_or_say_which_rows_they_mean(
    adjacency: str, max_rows: int, n_public: int | None
) -> None:
    answers = _of_visits(adjacency, max_rows, n_public).answer()
    truth = [np.array([900 / 5900, 5000 / 5900])]
    assert _hold(answers, truth) or _names_the_bound(answers.summary(), max_rows)


# S4 and S6: the number of rows under add_remove.


@pytest.mark.parametrize("method", ["dqrs", "dual_query", "fem", "frank_wolfe_dual", "mwem", "sep_fem"])
def test_a_private_number_of_rows_does_not_come_out_as_it_is(method: str) -> None:
    made: list[int] = []
    counts = [397, 399, 400]
    for count in counts:
        rows = {"a": np.arange(count) % 2, "b": np.arange(count) % 2}
        synthesizer = Synthesizer(
            epsilon=0.5,
            delta=0.0,
            method=method,
            adjacency="add_remove",
            workload=Workload.of([("a", "b")]),
            random_state=1,
        )
        try:
            made.append(len(synthesizer.fit(rows, BITS).sample()["a"]))
        except HoldfastError:
            made.append(0)
    assert made != counts


TENTH = {"a": (np.arange(1000) % 10 == 0).astype(int)}


def _of_declared_rows(method: str) -> Synthesizer:
    """1000 rows, of which 100 have a = 1, where 800 were declared."""
    return Synthesizer(
        epsilon=1.0,
        delta=1e-6,
        method=method,
        adjacency="add_remove",
        n_public=800,
        workload=Workload.of([("a",)]),
        random_state=1,
    ).fit(TENTH, Schema([Categorical("a", [0, 1])]))


@pytest.mark.parametrize("method", ["independent", "gaussian", "adaptive"])
def test_intervals_contain_the_tables_share_or_say_what_they_divide_by(method: str) -> None:
    answers = _of_declared_rows(method).answer()
    assert _hold(answers, [np.array([0.9, 0.1])]) or "n_public" in answers.summary()


@pytest.mark.parametrize("method", ["independent", "gaussian", "adaptive"])
def test_a_declared_number_of_rows_is_among_the_assumptions(method: str) -> None:
    told = _of_declared_rows(method).release_.guarantee.assumptions
    assert any("800" in one.text for one in told)

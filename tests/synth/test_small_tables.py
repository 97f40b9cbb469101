"""Every method on the smallest tables there are, `auto` on random ones: nothing that is taken is refused or breaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.data import Categorical, Identifier, Numeric, Schema
from holdfast.data._schema.kinds import Column
from holdfast.errors import HoldfastError, ParameterError
from holdfast.privacy import ZCDP, Account, ApproxDP, GaussianDP, PrivacyCurve, PrivacyUnit, PureDP
from holdfast.privacy._account.request import limit_of
from holdfast.privacy._adjacency import Adjacency
from holdfast.synth import SYNTHESISERS, Synthesizer, Workload
from holdfast.synth.methods.method import SynthesisTask
from tests.studies.size import trials

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::holdfast.errors.{name}")
    for name in ("AssumptionWarning", "BudgetWarning", "NotPrivateWarning", "UselessReleaseWarning")
]


@dataclass(frozen=True)
class Case:
    """A table with all that is public of it."""

    schema: Schema
    rows: dict[str, Any]
    adjacency: str
    n_public: int | None
    delta: float
    workload: Workload | None = None

    def asked(self, method: str) -> Synthesizer:
        return Synthesizer(
            epsilon=1.0,
            delta=self.delta,
            method=method,
            adjacency=self.adjacency,
            n_public=self.n_public,
            workload=self.workload,
            random_state=1,
        )

    def task(self) -> SynthesisTask:
        known = self.adjacency != "add_remove" or self.n_public is not None
        return SynthesisTask(
            domain=self.schema.domain,
            workload=self.workload or Workload.marginals(self.schema, 3),
            limit=limit_of(1.0, self.delta),
            adjacency=Adjacency.of(self.adjacency),
            unit=self.schema.confirmed_unit,
            rows_are_public=known and self.schema.confirmed_unit.max_rows == 1,
        )


@st.composite
def cases(draw: st.DrawFn, most_columns: int = 3) -> Case:
    """One to three columns of one to three cells, none to thirty rows, nulls and nothing but nulls among them."""
    columns: list[Column] = []
    values: dict[str, list[Any]] = {}
    count = draw(st.integers(0, 30))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    for place in range(draw(st.integers(1, most_columns))):
        name, cells = f"c{place}", draw(st.integers(1, 3))
        if draw(st.booleans()):
            columns.append(Numeric(name, 0, 1, bins=cells, null=draw(st.sampled_from(["low", "category"]))))
            values[name] = rng.random(count).tolist()
        else:
            labels = [str(cell) for cell in range(cells)]
            columns.append(Categorical(name, labels, null=draw(st.sampled_from(["0", "(missing)"]))))
            values[name] = rng.choice(labels, count).tolist()
        share = draw(st.sampled_from([0.0, 0.3, 1.0]))
        values[name] = [None if rng.random() < share else one for one in values[name]]
    unit, each = PrivacyUnit.row(), draw(st.sampled_from([None, 1, 2]))
    if each is not None:
        columns.append(Identifier("who"))
        values["who"] = [str(place // draw(st.just(each))) for place in range(count)]
        unit = PrivacyUnit.user("who", max_rows=each)
    adjacency = draw(st.sampled_from(["replace", "zero_out", "add_remove"]))
    declared = adjacency == "add_remove" and draw(st.booleans())
    schema = Schema(columns, unit=unit)
    first = draw(st.sampled_from([None, Workload.of([(schema.names[0],)])]))
    return Case(
        schema=schema,
        rows=values,
        adjacency=adjacency,
        n_public=max(1, count) if declared else None,
        delta=draw(st.sampled_from([0.0, 1e-6])),
        workload=first,
    )


def use(made: Synthesizer) -> None:
    """All that can be asked of a release."""
    made.sample()
    made.sample(3)
    made.summary()
    for one in made.answer().groups:
        assert np.all((one.low >= 0) & (one.low <= one.high) & (one.high <= 1))


@given(case=cases())
@settings(max_examples=trials(300), deadline=None)
def test_auto_never_takes_a_method_that_refuses(case: Case) -> None:
    use(case.asked("auto").fit(case.rows, case.schema))


@given(case=cases(most_columns=2), data=st.data())
@settings(max_examples=trials(300), deadline=None)
def test_a_method_takes_what_it_does_not_refuse(case: Case, data: st.DataObject) -> None:
    method = data.draw(st.sampled_from(SYNTHESISERS))
    try:
        use(case.asked(method.name).fit(case.rows, case.schema))
        refused = False
    except HoldfastError:
        refused = True
    assert refused is not method.takes(case.task())


@pytest.mark.share(each="method")
@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"]], ids=["one column", "three columns"])
@pytest.mark.parametrize(("adjacency", "rows"), [("replace", 1), ("zero_out", 40), ("add_remove", 1)])
@pytest.mark.parametrize("method", [method.name for method in SYNTHESISERS])
def test_columns_of_one_category(method: str, rows: int, adjacency: str, names: list[str]) -> None:
    schema = Schema([Categorical(name, ["x"]) for name in names])
    made = Synthesizer(
        epsilon=1.0,
        delta=1e-6,
        method=method,
        adjacency=adjacency,
        random_state=1,
        n_public=rows if adjacency == "add_remove" else None,
    ).fit({name: ["x"] * rows for name in names}, schema)
    use(made)
    assert set(made.sample()["a"]) == {"x"}


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("users", [False, True], ids=["rows", "users"])
def test_auto_without_delta_on_more_records_than_can_be_held(adjacency: str, users: bool) -> None:
    """There the first method counts rows by itself, so that it takes a private number of them."""
    names = [f"c{place}" for place in range(24)]
    columns: list[Column] = [Categorical(name, [0, 1]) for name in names]
    rows: dict[str, Any] = {name: [0, 1] * 20 for name in names}
    unit = PrivacyUnit.row()
    if users:
        columns, unit = [*columns, Identifier("who")], PrivacyUnit.user("who", max_rows=2)
        rows["who"] = [str(place // 2) for place in range(40)]
    made = Synthesizer(
        epsilon=1.0, delta=0.0, adjacency=adjacency, workload=Workload.of([("c0", "c1")]), random_state=1
    ).fit(rows, Schema(columns, unit=unit))
    use(made)


ACCOUNTS = {
    "zcdp": (ZCDP(0.5), "zcdp"),
    "gdp": (GaussianDP(1.0), "gdp"),
    "pure": (PureDP(1.0), "pure"),
    "approximate": (ApproxDP(1.0, 1e-6), "zcdp"),
    "approximate, gdp": (ApproxDP(1.0, 1e-6), "gdp"),
    "approximate, renyi": (ApproxDP(1.0, 1e-6), "renyi"),
}


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("users", [False, True], ids=["rows", "users"])
@pytest.mark.parametrize(("limit", "currency"), ACCOUNTS.values(), ids=list(ACCOUNTS))
def test_auto_takes_a_method_that_the_account_can_pay(
    limit: PrivacyCurve, currency: str, users: bool, adjacency: str
) -> None:
    columns: list[Column] = [Categorical("a", [0, 1]), Categorical("b", [0, 1])]
    rows: dict[str, Any] = {"a": [0, 1] * 20, "b": [0, 1, 1, 0] * 10}
    unit = PrivacyUnit.row()
    if users:
        columns, unit = [*columns, Identifier("who")], PrivacyUnit.user("who", max_rows=2)
        rows["who"] = [str(place // 2) for place in range(40)]
    account = Account(limit, currency=currency, adjacency=adjacency, unit=unit, seed=1)
    made = Synthesizer(adjacency=adjacency).fit(rows, Schema(columns, unit=unit), account=account)
    use(made)
    assert made.choice_ is not None
    assert currency in made.choice_.entry.currencies
    if currency in ("gdp", "renyi"):
        assert made.choice_.method == "gaussian"


@pytest.mark.parametrize("limit", [ApproxDP(1.0, 1e-6), PureDP(1.0)], ids=["delta", "pure"])
def test_an_account_that_no_method_is_paid_from_is_told_so(limit: PrivacyCurve) -> None:
    account = Account(limit, currency="basic", seed=1)
    with pytest.raises(ParameterError, match=r"method must be given.*account of currency 'basic'"):
        Synthesizer().fit({"a": [0, 1] * 20}, Schema([Categorical("a", [0, 1])]), account=account)
    assert not account.journal.entries

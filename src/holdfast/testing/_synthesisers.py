"""The contract of a private synthesiser: it spends its limit, releases a whole distribution, and repeats with a seed.

One function for each statement, about a method or about a method under one of its adjacencies. Every run goes through
`run_synthesis`.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._options import Option
from holdfast.data import Categorical, Identifier, Schema, open_table
from holdfast.errors import AdjacencyError, HoldfastError, NotPrivateWarning, ParameterError
from holdfast.noise._source import Source
from holdfast.privacy._account import Account
from holdfast.privacy._account.resume import ResumableAccount
from holdfast.privacy._adjacency import PrivacyUnit
from holdfast.privacy._curves.curve import ApproxDP, PureDP
from holdfast.synth import Synthesizer, Workload, Zeros
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._rows.coded_rows import CodedRows
from holdfast.synth.methods.method import Synthesis, SynthesisMethod, SynthesisTask
from holdfast.testing._contract import Check, ensure, ensure_near, refusal_text

ROWS = 200
DOMAIN = {"a": 2, "b": 3, "c": 2}
WORKLOAD = Workload.of([("a", "b"), ("b", "c"), ("a", "b", "c")])
DELTA = 1e-6
WRONG_TYPES: tuple[Any, ...] = ("many", None, {}, [1.5], 1.5, 3)
"""No option is of all these types."""
TELLTALE = "telltale"
"""A value of the first row: no error may show it."""


def run_synthesis(
    method: SynthesisMethod,
    data: ExactCounts,
    account: Account,
    workload: Workload = WORKLOAD,
    **options: Any,
) -> Synthesis:
    """One synthesis, as a `Synthesizer` makes it."""
    return method.fit(data, workload, account=account, **options)


# Tables, accounts, and what a release must be.
def synthesis_table(
    adjacency: str, *, rows: int = ROWS, seed: int = 0, names: str = "abc", users: int = 0
) -> ExactCounts:
    """Three columns that depend on each other, by row or by users of so many rows."""
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


def synthesis_account(
    method: SynthesisMethod,
    data: ExactCounts,
    *,
    epsilon: float = 1.0,
    delta: float = DELTA,
    seed: int | None = 1,
) -> Account:
    """An account of the method's own currency, for these neighbours."""
    limit = PureDP(epsilon) if delta == 0 else ApproxDP(epsilon, delta)
    currency = "pure" if delta == 0 else method.currency
    return Account(limit, adjacency=data.adjacency, unit=data.unit, currency=currency, seed=seed)


def attempt(method: SynthesisMethod, data: ExactCounts, account: Account) -> tuple[Synthesis | None, str]:
    """A synthesis, or the words of the refusal, in which no value of the data is."""
    try:
        return run_synthesis(method, data, account), ""
    except HoldfastError as error:
        message = str(error)
    ensure(TELLTALE not in message, "a refusal shows a value of the data")
    return None, message


def drawn_rows(synthesis: Synthesis, domain: Mapping[str, int], rows: int = 50) -> NDArray[Any]:
    """Rows of a released distribution, after a look at all of it: it can be asked and drawn from, without a hole."""
    model = synthesis.model
    ensure(dict(model.domain) == dict(domain), f"the model has the domain {dict(model.domain)}")
    ensure(math.isfinite(model.total) and model.total > 0, f"the model has the total {model.total}")
    for columns in [(name,) for name in domain] + [tuple(domain)]:
        projected = model.project(columns)
        ensure(projected.shape == tuple(domain[name] for name in columns), f"{columns}: {projected.shape}")
        ensure(bool(np.isfinite(projected).all()), f"{columns}: counts are not finite")
        ensure(bool((projected >= -1e-6 * model.total).all()), f"{columns}: counts are negative")
        ensure_near(float(projected.sum()), model.total, f"{columns}: the sum of counts", rel=1e-3)
    codes = np.asarray(model.sample(rows, Source(seed=3)))
    ensure(len(CodedRows(domain=dict(domain), codes=codes)) == rows, f"{len(codes)} rows drawn for {rows}")
    for measurement in synthesis.measurements:
        shape = tuple(domain[name] for name in measurement.columns)
        ensure(bool(np.isfinite(measurement.values).all()), f"{measurement.columns}: values are not finite")
        ensure(
            measurement.values.shape == shape, f"{measurement.columns}: values are {measurement.values.shape}"
        )
    ensure(bool(synthesis.theorem), "theorem is empty")
    return codes


def _within(account: Account, epsilon: float) -> None:
    ensure(account.spent().delta(epsilon) <= DELTA, "more than the limit was spent")


# What must hold of a method.
def its_declaration_is_complete(method: SynthesisMethod) -> None:
    """A paper, adjacencies, options by name, and a rank that gives its reason."""
    ensure(bool(method.paper), "paper must name where the method comes from")
    ensure(bool(method.adjacencies), "adjacencies must name one or more")
    ensure(method.seconds[0] > 0, "seconds must begin with a number > 0")
    parameters = inspect.signature(method.run).parameters.values()
    ensure(
        all(parameter.kind is not inspect.Parameter.VAR_KEYWORD for parameter in parameters),
        "options are declared by name",
    )
    takes = "constraints" in [option.name for option in method.options]
    ensure(method.zeros == takes, "zeros must say whether run takes constraints")
    rank = method.rank(SynthesisTask(domain=DOMAIN, workload=WORKLOAD, limit=ApproxDP(1.0, DELTA)))
    ensure(rank is None or bool(rank.reason), "a rank must give its reason")


def a_synthesizer_refuses_options_before_anything_is_charged(method: SynthesisMethod) -> None:
    """Through the class that people use, with nothing left behind."""
    data = synthesis_table(method.adjacencies[0])
    account = synthesis_account(method, data)
    synthesizer = Synthesizer(method=method, workload=WORKLOAD, options={"no_such_option": 1})
    refusal_text(
        partial(synthesizer.fit, data.table, account=account),
        "an option that it does not have",
        kinds=(ParameterError,),
        naming="options must be",
    )
    ensure(not account.journal.entries, "an option that it does not have is refused after spending")
    ensure(not hasattr(synthesizer, "release_"), "a refused fit leaves a release behind")


def refuses_an_account_of_another_adjacency_or_unit(method: SynthesisMethod) -> None:
    """Before anything is spent, and without a value of the data."""
    data = (
        synthesis_table("replace")
        if "replace" in method.adjacencies
        else synthesis_table(method.adjacencies[0])
    )
    other = "add_remove" if data.adjacency.value == "replace" else "replace"
    user = PrivacyUnit.user("who", max_rows=2)
    wrong = {
        f"an account of {other}": Account(
            ApproxDP(1.0, DELTA), adjacency=other, currency=method.currency, seed=1
        ),
        "an account of users": Account(
            ApproxDP(1.0, DELTA), adjacency=data.adjacency, unit=user, currency=method.currency, seed=1
        ),
    }
    for what, account in wrong.items():
        message = refusal_text(partial(run_synthesis, method, data, account), what, kinds=(AdjacencyError,))
        ensure(not account.journal.entries, f"{what} is refused after spending")
        ensure(TELLTALE not in message, f"{what} is refused with a value of the data in the message")


def users_are_protected_as_a_whole_or_refused(method: SynthesisMethod) -> None:
    """Four rows of one user need four times the noise, or an error that names `max_rows`."""
    adjacency = method.adjacencies[-1]
    alone, together = synthesis_table(adjacency), synthesis_table(adjacency, users=4)
    account = synthesis_account(method, together)
    synthesis, message = attempt(method, together, account)
    if synthesis is None:
        ensure(not account.journal.entries, "users are refused after spending")
        ensure("max_rows" in message, f"users are refused without naming max_rows: {message}")
        return
    drawn_rows(synthesis, DOMAIN)
    _within(account, 1.0)
    single = run_synthesis(method, alone, synthesis_account(method, alone))
    if synthesis.measurements and single.measurements:
        quietest = [
            min(measurement.noise_std for measurement in outcome.measurements)
            for outcome in (single, synthesis)
        ]
        ensure(quietest[1] > 2 * quietest[0], "four rows of one user need four times the noise")


def takes_an_empty_table_and_one_row(method: SynthesisMethod, rows: int) -> None:
    """Where the number of rows is private, it must not decide whether there is a result."""
    data = synthesis_table("add_remove" if "add_remove" in method.adjacencies else "replace", rows=rows)
    synthesis, message = attempt(method, data, synthesis_account(method, data))
    # Under replace the number of rows is public, and a method may ask for some.
    ensure(synthesis is not None or data.adjacency.count_is_public, message)
    if synthesis is not None:
        drawn_rows(synthesis, DOMAIN)


def takes_one_column(method: SynthesisMethod) -> None:
    """A table without any joint cell."""
    data = synthesis_table(method.adjacencies[0], names="b")
    synthesis = run_synthesis(method, data, synthesis_account(method, data), Workload.of([("b",)]))
    drawn_rows(synthesis, {"b": 3})


def works_with_small_and_large_budgets(method: SynthesisMethod, epsilon: float) -> None:
    """Within the limit at either end."""
    data = synthesis_table(method.adjacencies[0])
    account = synthesis_account(method, data, epsilon=epsilon)
    drawn_rows(run_synthesis(method, data, account), DOMAIN)
    _within(account, epsilon)


def a_seed_repeats_the_run(method: SynthesisMethod) -> None:
    """All randomness comes from the account."""
    data = synthesis_table(method.adjacencies[0])

    def rows(seed: int) -> NDArray[Any]:
        return drawn_rows(run_synthesis(method, data, synthesis_account(method, data, seed=seed)), DOMAIN)

    first = rows(1)
    ensure(np.array_equal(first, rows(1)), "two runs of one seed differ")
    others = [rows(seed) for seed in (2, 3)]
    ensure(not all(np.array_equal(first, other) for other in others), "runs of three seeds are equal")


def a_job_that_runs_again_repeats_itself_and_pays_once(method: SynthesisMethod) -> None:
    """What was released and paid for is not drawn again."""
    data = synthesis_table(method.adjacencies[0])
    account = synthesis_account(method, data, seed=None)
    first = drawn_rows(run_synthesis(method, data, ResumableAccount.of(account, "job")), DOMAIN)
    charges = len(account.journal.entries)
    again = drawn_rows(run_synthesis(method, data, ResumableAccount.of(account, "job")), DOMAIN)
    ensure(np.array_equal(first, again), "the second run of a job differs from the first")
    ensure(len(account.journal.entries) == charges, "the second run of a job pays again")
    ensure({entry.charge.noise for entry in account.journal.entries} == {"secure"}, "noise is not secure")
    _within(account, 1.0)


def pure_privacy_is_pure_or_refused(method: SynthesisMethod) -> None:
    """An account without delta is kept within its limit, or refused before spending."""
    data = synthesis_table(method.adjacencies[0])
    account = synthesis_account(method, data, delta=0.0)
    if not method.pure:
        refusal_text(partial(run_synthesis, method, data, account), "an account without delta")
        ensure(not account.journal.entries, "an account without delta is refused after spending")
        return
    drawn_rows(run_synthesis(method, data, account), DOMAIN)
    ensure(account.spent().epsilon(0.0) <= 1.0, "more than the limit was spent")


def a_generous_budget_finds_the_table(method: SynthesisMethod) -> None:
    """At epsilon 50 the columns of 2,000 rows are near the truth."""
    data = synthesis_table(method.adjacencies[0], rows=2000)
    model = run_synthesis(method, data, synthesis_account(method, data, epsilon=50.0)).model
    for name in DOMAIN:
        gap = np.abs(model.project((name,)) / model.total - data(name) / 2000)
        ensure(bool(gap.max() < 0.2), f"{name} is off by {gap.max():.2f}")


def impossible_records_are_never_released(method: SynthesisMethod) -> None:
    """Declared zeros hold in the rows, and in the model of a method that takes them; a certificate is issued."""
    zeros = Zeros(("a", "c"), [(0, 1), (1, 0)])
    synthesizer = Synthesizer(
        method=method, delta=DELTA, constraints=[zeros], workload=WORKLOAD, random_state=1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        synthesizer.fit(synthesis_table(method.adjacencies[0]).table)
    rows, model, certificate = synthesizer.sample(), synthesizer.model_, synthesizer.certificate_
    ensure(rows["a"].to_pylist() == rows["c"].to_pylist(), "an impossible record was released")
    ensure(model is not None, "there is no model")
    if method.zeros and model is not None:
        ensure(bool(model.project(("a", "c"))[0, 1] <= 1e-6 * model.total), "an impossible cell has weight")
    ensure(certificate is not None, "there is no certificate")
    ensure(certificate is not None and 0 < certificate.alpha <= 1, "the certificate's bound is not in (0, 1]")
    ensure(method.name in synthesizer.summary(), "the summary does not name the method")


# What must hold of each option.
def refuses_a_misspelt_option_with_the_right_name(method: SynthesisMethod, option: Option) -> None:
    """The usual slips (two letters exchanged, one doubled, one left out), before anything is charged."""
    data, right = synthesis_table(method.adjacencies[0]), option.name
    for name in (right[1::-1] + right[2:], right + right[-1], right[:-1]):
        account, what = synthesis_account(method, data), f"the option {name!r}"
        message = refusal_text(
            partial(run_synthesis, method, data, account, **{name: option.default}),
            what,
            kinds=(ParameterError,),
            naming=f"did you mean {right!r}",
        )
        for part in (f"got {name!r}", f"method={method.name!r}"):
            ensure(part in message, f"{what} is refused without {part}: {message}")
        ensure(not account.journal.entries, f"{what} is refused after spending")
        ensure(TELLTALE not in message, f"{what} is refused with a value of the data in the message")


def refuses_an_option_of_a_wrong_type(method: SynthesisMethod, option: Option) -> None:
    """Before anything is charged."""
    data, wrong = (
        synthesis_table(method.adjacencies[0]),
        [wrong_type for wrong_type in WRONG_TYPES if not option.admits(wrong_type)],
    )
    ensure(bool(wrong), f"{option.name} admits everything: give it a type")
    for value in wrong:
        account, what = synthesis_account(method, data), f"{option.name}={value!r}"
        refusal_text(
            partial(run_synthesis, method, data, account, **{option.name: value}),
            what,
            kinds=(ParameterError,),
            naming=f"{option.name} must be",
        )
        ensure(not account.journal.entries, f"{what} is refused after spending")


def takes_the_default_of_an_option(method: SynthesisMethod, option: Option) -> None:
    """Given by name, it is what it is without."""
    data = synthesis_table(method.adjacencies[0], rows=20)
    synthesis = run_synthesis(method, data, synthesis_account(method, data), **{option.name: option.default})
    drawn_rows(synthesis, DOMAIN)


# What must hold under each adjacency that it names.
def spends_no_more_than_its_limit_and_most_of_it(method: SynthesisMethod, adjacency: str) -> None:
    """A method spends what it is given, in strict arithmetic."""
    data = synthesis_table(adjacency)
    account = synthesis_account(method, data)
    drawn_rows(run_synthesis(method, data, account), DOMAIN)
    _within(account, 1.0)
    ensure(account.spent().epsilon(DELTA) > 0.5, "a method spends what it is given")
    strict = all(entry.charge.arithmetic == "strict" for entry in account.journal.entries)
    ensure(strict, "a charge is not in strict arithmetic")


EACH_METHOD: tuple[Callable[[SynthesisMethod], None], ...] = (
    its_declaration_is_complete,
    a_synthesizer_refuses_options_before_anything_is_charged,
    refuses_an_account_of_another_adjacency_or_unit,
    users_are_protected_as_a_whole_or_refused,
    takes_one_column,
    a_seed_repeats_the_run,
    a_job_that_runs_again_repeats_itself_and_pays_once,
    pure_privacy_is_pure_or_refused,
    a_generous_budget_finds_the_table,
    impossible_records_are_never_released,
)
EACH_OPTION: tuple[Callable[[SynthesisMethod, Option], None], ...] = (
    refuses_a_misspelt_option_with_the_right_name,
    refuses_an_option_of_a_wrong_type,
    takes_the_default_of_an_option,
)


def synthesiser_checks(method: SynthesisMethod) -> Iterator[Check]:
    """What must hold of a synthesiser, by itself and under each of its adjacencies."""
    for check in EACH_METHOD:
        yield Check(name=check.__name__, run=partial(check, method))
    for rows in (0, 1):
        tiny = takes_an_empty_table_and_one_row
        yield Check(name=f"{tiny.__name__}-{rows}", run=partial(tiny, method, rows))
    for epsilon in (0.01, 100.0):
        budget = works_with_small_and_large_budgets
        yield Check(name=f"{budget.__name__}-{epsilon:g}", run=partial(budget, method, epsilon))
    for adjacency in method.adjacencies:
        way = spends_no_more_than_its_limit_and_most_of_it
        yield Check(name=f"{way.__name__}-{adjacency}", run=partial(way, method, adjacency))
    for option in method.options:
        for option_check in EACH_OPTION:
            yield Check(
                name=f"{option_check.__name__}-{option.name}", run=partial(option_check, method, option)
            )

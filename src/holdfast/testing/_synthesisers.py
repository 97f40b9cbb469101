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
"""Values of several types; no option admits all of them."""
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


def synthesis_table(
    adjacency: str, *, rows: int = ROWS, seed: int = 0, names: str = "abc", users: int = 0
) -> ExactCounts:
    """Three columns that depend on each other, by row or by users of so many rows."""
    random = np.random.default_rng(seed)
    a = random.integers(0, 2, rows)
    codes_by_column = {"a": a, "b": (a + random.integers(0, 2, rows)) % 3, "c": a}
    columns: list[Any] = [Categorical(name, [str(cell) for cell in range(DOMAIN[name])]) for name in names]
    frame: dict[str, Any] = {name: codes_by_column[name].astype(str).astype(object) for name in names}
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
    """A synthesis, or the message of the refusal, after a check that it shows no value of the data."""
    try:
        return run_synthesis(method, data, account), ""
    except HoldfastError as error:
        message = str(error)
    ensure(TELLTALE not in message, "a refusal shows a value of the data")
    return None, message


def sound_rows(synthesis: Synthesis, domain: Mapping[str, int], rows: int = 50) -> NDArray[Any]:
    """Rows drawn from a released distribution, after checks of its counts, its measurements and its theorem."""
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


def _ensure_within(account: Account, epsilon: float) -> None:
    ensure(account.spent().delta(epsilon) <= DELTA, "more than the limit was spent")


# Checks of a method.
def its_declaration_is_complete(method: SynthesisMethod) -> None:
    """It names a paper, adjacencies and options, and its rank gives a reason."""
    ensure(bool(method.paper), "paper must name where the method comes from")
    ensure(bool(method.adjacencies), "adjacencies must name one or more")
    ensure(method.seconds[0] > 0, "seconds must begin with a number > 0")
    parameters = inspect.signature(method.run).parameters.values()
    ensure(
        all(parameter.kind is not inspect.Parameter.VAR_KEYWORD for parameter in parameters),
        "options are declared by name",
    )
    takes_constraints = "constraints" in [option.name for option in method.options]
    ensure(method.zeros == takes_constraints, "zeros must say whether run takes constraints")
    rank = method.rank(SynthesisTask(domain=DOMAIN, workload=WORKLOAD, limit=ApproxDP(1.0, DELTA)))
    ensure(rank is None or bool(rank.reason), "a rank must give its reason")


def a_synthesizer_refuses_options_before_anything_is_charged(method: SynthesisMethod) -> None:
    """A refused fit of a `Synthesizer` charges nothing and leaves no release behind."""
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
    """The refusal comes before anything is spent and shows no value of the data."""
    data = (
        synthesis_table("replace")
        if "replace" in method.adjacencies
        else synthesis_table(method.adjacencies[0])
    )
    other = "add_remove" if data.adjacency.value == "replace" else "replace"
    user = PrivacyUnit.user("who", max_rows=2)
    wrong_accounts = {
        f"an account of {other}": Account(
            ApproxDP(1.0, DELTA), adjacency=other, currency=method.currency, seed=1
        ),
        "an account of users": Account(
            ApproxDP(1.0, DELTA), adjacency=data.adjacency, unit=user, currency=method.currency, seed=1
        ),
    }
    for what, account in wrong_accounts.items():
        message = refusal_text(partial(run_synthesis, method, data, account), what, kinds=(AdjacencyError,))
        ensure(not account.journal.entries, f"{what} is refused after spending")
        ensure(TELLTALE not in message, f"{what} is refused with a value of the data in the message")


def users_are_protected_as_a_whole_or_refused(method: SynthesisMethod) -> None:
    """Four rows of one user need four times the noise, or an error that names `max_rows`."""
    adjacency = method.adjacencies[-1]
    rows_table, users_table = synthesis_table(adjacency), synthesis_table(adjacency, users=4)
    account = synthesis_account(method, users_table)
    synthesis, message = attempt(method, users_table, account)
    if synthesis is None:
        ensure(not account.journal.entries, "users are refused after spending")
        ensure("max_rows" in message, f"users are refused without naming max_rows: {message}")
        return
    sound_rows(synthesis, DOMAIN)
    _ensure_within(account, 1.0)
    by_row = run_synthesis(method, rows_table, synthesis_account(method, rows_table))
    if synthesis.measurements and by_row.measurements:
        least_noise = [
            min(measurement.noise_std for measurement in each.measurements) for each in (by_row, synthesis)
        ]
        ensure(least_noise[1] > 2 * least_noise[0], "four rows of one user need four times the noise")


def takes_an_empty_table_and_one_row(method: SynthesisMethod, rows: int) -> None:
    """Where the number of rows is private, it must not decide whether there is a result."""
    data = synthesis_table("add_remove" if "add_remove" in method.adjacencies else "replace", rows=rows)
    synthesis, message = attempt(method, data, synthesis_account(method, data))
    # Under replace the number of rows is public, and a method may ask for some.
    ensure(synthesis is not None or data.adjacency.count_is_public, message)
    if synthesis is not None:
        sound_rows(synthesis, DOMAIN)


def takes_one_column(method: SynthesisMethod) -> None:
    """A table without any joint cell."""
    data = synthesis_table(method.adjacencies[0], names="b")
    synthesis = run_synthesis(method, data, synthesis_account(method, data), Workload.of([("b",)]))
    sound_rows(synthesis, {"b": 3})


def works_with_small_and_large_budgets(method: SynthesisMethod, epsilon: float) -> None:
    """Both a very small and a very large epsilon are kept within."""
    data = synthesis_table(method.adjacencies[0])
    account = synthesis_account(method, data, epsilon=epsilon)
    sound_rows(run_synthesis(method, data, account), DOMAIN)
    _ensure_within(account, epsilon)


def a_seed_repeats_the_run(method: SynthesisMethod) -> None:
    """All randomness comes from the account."""
    data = synthesis_table(method.adjacencies[0])

    def rows(seed: int) -> NDArray[Any]:
        return sound_rows(run_synthesis(method, data, synthesis_account(method, data, seed=seed)), DOMAIN)

    first = rows(1)
    ensure(np.array_equal(first, rows(1)), "two runs of one seed differ")
    others = [rows(seed) for seed in (2, 3)]
    ensure(not all(np.array_equal(first, other) for other in others), "runs of three seeds are equal")


def a_job_that_runs_again_repeats_itself_and_pays_once(method: SynthesisMethod) -> None:
    """What was released and paid for is not drawn again."""
    data = synthesis_table(method.adjacencies[0])
    account = synthesis_account(method, data, seed=None)
    first = sound_rows(run_synthesis(method, data, ResumableAccount.of(account, "job")), DOMAIN)
    charges = len(account.journal.entries)
    again = sound_rows(run_synthesis(method, data, ResumableAccount.of(account, "job")), DOMAIN)
    ensure(np.array_equal(first, again), "the second run of a job differs from the first")
    ensure(len(account.journal.entries) == charges, "the second run of a job pays again")
    ensure({entry.charge.noise for entry in account.journal.entries} == {"secure"}, "noise is not secure")
    _ensure_within(account, 1.0)


def pure_privacy_is_pure_or_refused(method: SynthesisMethod) -> None:
    """An account without delta is kept within its limit, or refused before spending."""
    data = synthesis_table(method.adjacencies[0])
    account = synthesis_account(method, data, delta=0.0)
    if not method.pure:
        refusal_text(partial(run_synthesis, method, data, account), "an account without delta")
        ensure(not account.journal.entries, "an account without delta is refused after spending")
        return
    sound_rows(run_synthesis(method, data, account), DOMAIN)
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


# Checks of each option that a method declares.
def refuses_a_misspelt_option_with_the_right_name(method: SynthesisMethod, option: Option) -> None:
    """The usual slips (two letters exchanged, one doubled, one left out), before anything is charged."""
    data, right_name = synthesis_table(method.adjacencies[0]), option.name
    for name in (right_name[1::-1] + right_name[2:], right_name + right_name[-1], right_name[:-1]):
        account, what = synthesis_account(method, data), f"the option {name!r}"
        message = refusal_text(
            partial(run_synthesis, method, data, account, **{name: option.default}),
            what,
            kinds=(ParameterError,),
            naming=f"did you mean {right_name!r}",
        )
        for part in (f"got {name!r}", f"method={method.name!r}"):
            ensure(part in message, f"{what} is refused without {part}: {message}")
        ensure(not account.journal.entries, f"{what} is refused after spending")
        ensure(TELLTALE not in message, f"{what} is refused with a value of the data in the message")


def refuses_an_option_of_a_wrong_type(method: SynthesisMethod, option: Option) -> None:
    """The refusal comes before anything is charged."""
    data, wrong_values = (
        synthesis_table(method.adjacencies[0]),
        [wrong_type for wrong_type in WRONG_TYPES if not option.admits(wrong_type)],
    )
    ensure(bool(wrong_values), f"{option.name} admits everything: give it a type")
    for value in wrong_values:
        account, what = synthesis_account(method, data), f"{option.name}={value!r}"
        refusal_text(
            partial(run_synthesis, method, data, account, **{option.name: value}),
            what,
            kinds=(ParameterError,),
            naming=f"{option.name} must be",
        )
        ensure(not account.journal.entries, f"{what} is refused after spending")


def takes_the_default_of_an_option(method: SynthesisMethod, option: Option) -> None:
    """An option may be given its default value by name."""
    data = synthesis_table(method.adjacencies[0], rows=20)
    synthesis = run_synthesis(method, data, synthesis_account(method, data), **{option.name: option.default})
    sound_rows(synthesis, DOMAIN)


# Checks of a method under each adjacency that it names.
def spends_no_more_than_its_limit_and_most_of_it(method: SynthesisMethod, adjacency: str) -> None:
    """A method spends what it is given, with strict arithmetic of the noise."""
    data = synthesis_table(adjacency)
    account = synthesis_account(method, data)
    sound_rows(run_synthesis(method, data, account), DOMAIN)
    _ensure_within(account, 1.0)
    ensure(account.spent().epsilon(DELTA) > 0.5, "a method spends what it is given")
    strict = all(entry.charge.arithmetic == "strict" for entry in account.journal.entries)
    ensure(strict, "a charge is not in strict arithmetic")


METHOD_CHECKS: tuple[Callable[[SynthesisMethod], None], ...] = (
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
OPTION_CHECKS: tuple[Callable[[SynthesisMethod, Option], None], ...] = (
    refuses_a_misspelt_option_with_the_right_name,
    refuses_an_option_of_a_wrong_type,
    takes_the_default_of_an_option,
)


def synthesiser_checks(method: SynthesisMethod) -> Iterator[Check]:
    """What must hold of a synthesiser, by itself and under each of its adjacencies."""
    for check in METHOD_CHECKS:
        yield Check(name=check.__name__, run=partial(check, method))
    for rows in (0, 1):
        tiny_table_check = takes_an_empty_table_and_one_row
        yield Check(name=f"{tiny_table_check.__name__}-{rows}", run=partial(tiny_table_check, method, rows))
    for epsilon in (0.01, 100.0):
        budget_check = works_with_small_and_large_budgets
        yield Check(name=f"{budget_check.__name__}-{epsilon:g}", run=partial(budget_check, method, epsilon))
    for adjacency in method.adjacencies:
        adjacency_check = spends_no_more_than_its_limit_and_most_of_it
        yield Check(
            name=f"{adjacency_check.__name__}-{adjacency}", run=partial(adjacency_check, method, adjacency)
        )
    for option in method.options:
        for option_check in OPTION_CHECKS:
            yield Check(
                name=f"{option_check.__name__}-{option.name}", run=partial(option_check, method, option)
            )

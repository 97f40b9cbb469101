"""The contract of a private learner: it spends what it declares, refuses before it spends, and repeats with a seed.

One function for each statement, about a method or about a method under one of its adjacencies. Every run goes through
`run_learner`.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

import numpy as np

from holdfast._options import Option
from holdfast.errors import AdjacencyError, HoldfastError, ParameterError
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Hinge, Logistic, Softmax, Squared
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.methods.method import Fit, Learner
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit
from holdfast.privacy._curves.curve import ApproxDP, PureDP
from holdfast.testing._contract import Check, ensure, refusal_text

ACCOUNT_LIMIT = ApproxDP(2.0, 1e-5)
ROWS, COLUMNS = 300, 3
KNOWN_NEEDS = {"convex", "lipschitz", "smooth", "strongly_convex", "delta"}
TELLTALE = 0.1234567
"""A number of the first row: no error may show it."""
PROBLEMS = (
    Problem(loss=Logistic(), dimension=COLUMNS, penalty=0.05),
    Problem(
        loss=Squared(target_bound=1.0, prediction_bound=2.0), dimension=COLUMNS, penalty=0.05, radius=2.0
    ),
    Problem(loss=cast(Any, Softmax(classes=2)), dimension=COLUMNS, penalty=0.05),
)
"""Every method must accept one of these with its default options."""
BREAKING_OPTIONS: dict[str, dict[str, Any]] = {
    "lipschitz": {"loss": Squared(target_bound=1.0), "radius": math.inf},
    "smooth": {"loss": Hinge()},
    "strongly_convex": {"penalty": 0.0},
}
"""By need: a change after which a problem no longer meets it."""


def run_learner(
    method: Learner, examples: ArrayExamples, problem: Problem, account: Account, **options: Any
) -> Fit:
    """One training, as an estimator makes it."""
    return method.fit(examples, problem, account=account, **options)


def learner_rows(
    adjacency: str, *, rows: int = ROWS, seed: int = 0, public_count: int | None = None
) -> ArrayExamples:
    """Rows of norm at most 1 with labels that a linear model finds."""
    random = np.random.Generator(np.random.PCG64(seed))
    x = random.normal(size=(rows, COLUMNS))
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None]
    y = np.where(x @ np.array([2.0, -1.0, 0.5]) > 0, 1.0, -1.0)
    if rows:
        x[0] = TELLTALE
    return ArrayExamples(
        features=x, labels=y, adjacency=Adjacency.of(adjacency), public_count=public_count or max(1, rows)
    )


def learner_account(method: Learner, adjacency: str, *, seed: int | None = 1) -> Account:
    """An account of the method's own currency."""
    return Account(ACCOUNT_LIMIT, adjacency=adjacency, currency=method.currency, seed=seed)


def problem_of(method: Learner) -> Problem:
    """The first problem that the method's proof covers."""
    for problem in PROBLEMS:
        adjacency = method.adjacencies[0]
        try:
            run_learner(method, learner_rows(adjacency), problem, learner_account(method, adjacency))
        except ParameterError:
            continue
        return problem
    raise AssertionError(
        f"{method.name} takes none of the contract's problems in currency {method.currency!r}"
    )


def fit_of(method: Learner, examples: ArrayExamples, account: Account) -> Fit:
    """A training on the first problem that the method's proof covers."""
    return run_learner(method, examples, problem_of(method), account)


def refusal_of(
    method: Learner, examples: ArrayExamples, problem: Problem, account: Account, what: str, **options: Any
) -> str:
    """The message of the refusal, after a check that nothing was spent and that it shows no value of the data."""
    message = refusal_text(
        partial(run_learner, method, examples, problem, account, **options),
        what,
        kinds=(HoldfastError, TypeError),
    )
    ensure(account.journal.entries == (), f"{what} is refused after spending")
    ensure(str(TELLTALE) not in message, f"{what} is refused with a value of the data in the message")
    return message


# Checks of a method.
def says_what_it_rests_on(method: Learner) -> None:
    """It names a paper, needs and adjacencies that exist, and needs delta exactly if it is not pure."""
    ensure(bool(method.paper), "paper must name where the method comes from")
    ensure(set(method.needs) <= KNOWN_NEEDS, f"needs must be among {sorted(KNOWN_NEEDS)}, got {method.needs}")
    known = {adjacency.value for adjacency in Adjacency}
    ensure(set(method.adjacencies) <= known, f"adjacencies must be among {sorted(known)}")
    ensure(bool(method.adjacencies), "adjacencies must name one or more")
    ensure(method.pure != ("delta" in method.needs), "pure must be the opposite of needing delta")
    ensure(bool(method.outputs), "outputs must name one or more")
    ensure(set(method.outputs) <= {"one", "several"}, "outputs must be among one, several")


def refuses_a_loss_of_a_kind_that_it_does_not_take(method: Learner) -> None:
    """A loss of several predictions where one is meant, or the other way round."""
    adjacency = method.adjacencies[0]
    for problem in PROBLEMS:
        if not method.takes(problem):
            account = learner_account(method, adjacency)
            refusal_of(method, learner_rows(adjacency), problem, account, f"a {problem.loss.name} loss")


def works_without_delta_exactly_if_it_says_so(method: Learner) -> None:
    """An account without delta is kept within its limit, or refused."""
    adjacency = method.adjacencies[0]
    account = Account(PureDP(2.0), adjacency=adjacency, seed=1)
    if not method.pure:
        refusal_of(method, learner_rows(adjacency), problem_of(method), account, "an account without delta")
        return
    fit_of(method, learner_rows(adjacency), account)
    spent = account.journal.spent("")
    ensure(spent is not None, "nothing was charged")
    ensure(
        spent is not None and spent.fits(account.currency.limit(PureDP(2.0))), "more than the limit was spent"
    )


def refuses_adjacencies_that_it_is_not_proved_for(method: Learner) -> None:
    """Rows and account of an adjacency that the method does not name."""
    problem = problem_of(method)
    for adjacency in {a.value for a in Adjacency} - set(method.adjacencies):
        refusal_text(
            partial(
                run_learner, method, learner_rows(adjacency), problem, learner_account(method, adjacency)
            ),
            f"adjacency {adjacency}",
            kinds=(AdjacencyError,),
        )


def refuses_rows_of_other_neighbours_than_the_accounts(method: Learner) -> None:
    """Rows of one adjacency or unit and an account of another."""
    problem = problem_of(method)
    for rows in Adjacency:
        for relation in method.adjacencies:
            if rows.value != relation:
                refusal_text(
                    partial(
                        run_learner,
                        method,
                        learner_rows(rows.value),
                        problem,
                        learner_account(method, relation),
                    ),
                    f"rows of {rows.value} with an account of {relation}",
                    kinds=(AdjacencyError,),
                )
    adjacency = method.adjacencies[0]
    other = dataclasses.replace(learner_rows(adjacency), unit=PrivacyUnit("user", max_rows=2))
    refusal_of(
        method, other, problem, learner_account(method, adjacency), "rows of users with an account of rows"
    )


def refuses_bad_constants_before_spending(method: Learner) -> None:
    """A dimension that the rows do not have, and an option that nobody declared."""
    adjacency = method.adjacencies[0]
    problem, rows = problem_of(method), learner_rows(adjacency)
    wider = dataclasses.replace(problem, dimension=COLUMNS + 1)
    message = refusal_of(method, rows, wider, learner_account(method, adjacency), "a wrong dimension")
    ensure("dimension" in message, f"a wrong dimension is refused without naming it: {message}")
    refusal_of(
        method,
        rows,
        problem,
        learner_account(method, adjacency),
        "an option that it does not have",
        no_such_option=1,
    )


def declares_its_options_by_name(method: Learner) -> None:
    """Every option is a keyword of the function, and the arithmetic of the noise is one of them."""
    kinds = {parameter.kind for parameter in inspect.signature(method.run).parameters.values()}
    ensure(
        inspect.Parameter.VAR_KEYWORD not in kinds, "options must be declared by name, and not by **options"
    )
    names = [option.name for option in method.options]
    ensure(
        "arithmetic" in names, f"options must have arithmetic among them, got {', '.join(names) or 'none'}"
    )


def refuses_a_problem_without_what_it_needs(method: Learner) -> None:
    """Each of `needs`, taken away."""
    adjacency = method.adjacencies[0]
    for need in method.needs:
        if need in BREAKING_OPTIONS:
            broken = dataclasses.replace(problem_of(method), **BREAKING_OPTIONS[need])
            refusal_of(
                method,
                learner_rows(adjacency),
                broken,
                learner_account(method, adjacency),
                f"a problem not {need}",
            )


# Checks of each option that a method declares.
def refuses_a_misspelt_option_with_the_nearest_name(method: Learner, option: Option) -> None:
    """The refusal comes before anything is spent."""
    message = _refused_option(method, f"{option.name[0]}{option.name}", option.default)
    ensure(
        f"method={method.name!r}" in message, f"a misspelt option is refused without the method: {message}"
    )
    hint = f"did you mean {option.name!r}?"
    ensure(hint in message, f"a misspelt option is refused without {hint!r}: {message}")


def refuses_an_option_of_another_type(method: Learner, option: Option) -> None:
    """The refusal comes before anything is spent, and names the option."""
    for value in (object(), {"a": 1}):
        message = _refused_option(method, option.name, value)
        named = message.startswith(f"{option.name} must be ") and "in options" in message
        ensure(named, f"{type(value).__name__} for {option.name} is refused without naming it: {message}")
    if option.kind in (int, float):
        message = _refused_option(method, option.name, True)
        ensure(option.name in message, f"True for {option.name} is refused without naming it: {message}")


def _refused_option(method: Learner, name: str, value: Any) -> str:
    adjacency = method.adjacencies[0]
    account = learner_account(method, adjacency)
    what = f"{type(value).__name__} for the option {name}"
    rows, problem = learner_rows(adjacency), problem_of(method)
    message = refusal_text(
        partial(run_learner, method, rows, problem, account, **{name: value}), what, kinds=(ParameterError,)
    )
    ensure(account.journal.entries == (), f"{what} is refused after spending")
    return message


# Checks of a method under each adjacency that it names.
def spends_no_more_than_its_limit_and_says_why_it_is_private(method: Learner, adjacency: str) -> None:
    """Finite weights, a theorem, and a charge within the limit."""
    account = learner_account(method, adjacency)
    fit = fit_of(method, learner_rows(adjacency), account)
    ensure(fit.weights.shape in ((COLUMNS,), (2, COLUMNS)), f"weights have the shape {fit.weights.shape}")
    ensure(bool(np.all(np.isfinite(fit.weights))), "weights are not finite")
    ensure(bool(fit.theorem), "theorem is empty")
    spent = account.journal.spent("")
    ensure(spent is not None, "nothing was charged")
    ensure(
        spent is not None and spent.fits(account.currency.limit(ACCOUNT_LIMIT)),
        "more than the limit was spent",
    )


def the_first_charge_depends_on_public_numbers_only(method: Learner, adjacency: str) -> None:
    """Another table of the same public facts, and under add_remove one row more: the same charge.

    Later ones may depend on what was released before (soundness, section 19), but not their number.
    """
    extra_rows = 0 if Adjacency.of(adjacency).count_is_public else 1
    charges = []
    for rows, seed in ((ROWS, 0), (ROWS + extra_rows, 5)):
        account = learner_account(method, adjacency)
        fit_of(method, learner_rows(adjacency, rows=rows, seed=seed, public_count=ROWS), account)
        charges.append([entry.charge for entry in account.journal.entries])
    ensure(charges[0][0] == charges[1][0], "the first charge depends on the rows")
    ensure(len(charges[0]) == len(charges[1]), "the number of charges depends on the rows")


def a_seed_repeats_and_another_differs(method: Learner, adjacency: str) -> None:
    """All randomness comes from the account."""

    def weights(seed: int | None) -> tuple[float, ...]:
        account = learner_account(method, adjacency, seed=seed)
        return tuple(fit_of(method, learner_rows(adjacency), account).weights.ravel())

    ensure(weights(3) == weights(3), "two runs of one seed differ")
    ensure(weights(3) != weights(4), "runs of two seeds are equal")
    ensure(weights(None) != weights(None), "two secure runs are equal")


def survives_tiny_tables_or_refuses_before_spending(method: Learner, adjacency: str, rows: int) -> None:
    """No rows, or one: a private number of rows must not decide whether there is a result."""
    public = Adjacency.of(adjacency).count_is_public
    account = learner_account(method, adjacency)
    examples = learner_rows(adjacency, rows=rows, public_count=None if public else 20)
    try:
        weights = fit_of(method, examples, account).weights
    except HoldfastError:
        ensure(public, "a private number of rows decides whether there is a result")
        ensure(account.journal.entries == (), "refused after spending")
        weights = np.zeros(COLUMNS)
    ensure(bool(np.all(np.isfinite(weights))), "weights are not finite")


METHOD_CHECKS: tuple[Callable[[Learner], None], ...] = (
    says_what_it_rests_on,
    refuses_a_loss_of_a_kind_that_it_does_not_take,
    works_without_delta_exactly_if_it_says_so,
    refuses_adjacencies_that_it_is_not_proved_for,
    refuses_rows_of_other_neighbours_than_the_accounts,
    refuses_bad_constants_before_spending,
    declares_its_options_by_name,
    refuses_a_problem_without_what_it_needs,
)
OPTION_CHECKS: tuple[Callable[[Learner, Option], None], ...] = (
    refuses_a_misspelt_option_with_the_nearest_name,
    refuses_an_option_of_another_type,
)
ADJACENCY_CHECKS: tuple[Callable[[Learner, str], None], ...] = (
    spends_no_more_than_its_limit_and_says_why_it_is_private,
    the_first_charge_depends_on_public_numbers_only,
    a_seed_repeats_and_another_differs,
)


def learner_checks(method: Learner) -> Iterator[Check]:
    """What must hold of a learner, by itself and under each of its adjacencies."""
    for check in METHOD_CHECKS:
        yield Check(name=check.__name__, run=partial(check, method))
    for option in method.options:
        for option_check in OPTION_CHECKS:
            yield Check(
                name=f"{option_check.__name__}-{option.name}", run=partial(option_check, method, option)
            )
    for adjacency in method.adjacencies:
        for adjacency_check in ADJACENCY_CHECKS:
            yield Check(
                name=f"{adjacency_check.__name__}-{adjacency}",
                run=partial(adjacency_check, method, adjacency),
            )
        for rows in (0, 1):
            tiny_table_check = survives_tiny_tables_or_refuses_before_spending
            yield Check(
                name=f"{tiny_table_check.__name__}-{adjacency}-{rows}",
                run=partial(tiny_table_check, method, adjacency, rows),
            )

"""`answer`: questions in, noisy numbers with intervals out.

The order of the code is that of the steps: questions are checked against the schema, a plan is made from public facts,
an account is opened or taken, and each measurement asks the engine, pays and draws. Nothing after that sees the table.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast._arguments import Seed, checked
from holdfast.data._table import Table
from holdfast.errors import AdjacencyError, require
from holdfast.privacy._account import Account
from holdfast.privacy._account.request import (
    limit_of,
    require_small_delta,
    require_something_left,
    seed_of,
)
from holdfast.privacy._account.weak_limit import warn_weak_limit
from holdfast.release import Provenance, Release
from holdfast.release._usefulness import announce, influence
from holdfast.statistics._accuracy import Width, least_epsilon
from holdfast.statistics._contents import contents_value, tables_of
from holdfast.statistics._found_groups import FoundGroups, find_groups, unknown_groups
from holdfast.statistics._measures.measure import Purse
from holdfast.statistics._plan import AnswerPlan
from holdfast.statistics._questions.grouping import Asked, Grouping, asked_of
from holdfast.statistics._questions.question import TableQuestion
from holdfast.statistics._table_facts import TableFacts
from holdfast.statistics._table_of_answers import StatisticsTable


@checked
def answer(
    table: Table,
    questions: Sequence[TableQuestion | Grouping],
    *,
    epsilon: float = 1.0,
    delta: float | None = None,
    account: Account | None = None,
    confidence: float = 0.95,
    within: float | str | Width | None = None,
    jointly: bool = False,
    random_state: Seed | None = None,
    key: str | None = None,
) -> StatisticsTable:
    """Answer questions about a private table, each with an interval.

    Parameters
    ----------
    table : Table
        The private rows with what is public about them: `open_table(rows, schema)`.
    questions : sequence of TableQuestion or Grouping
        What is asked: `Count()`, `Mean("cost")`, `by("ward", Count())`, ...
    epsilon : float
        The promise, together with `delta`, where no account is given.
    delta : float, optional
        0 for pure privacy; by default at most 1e-6, and used only where that makes the noise smaller.
    account : Account, optional
        What pays. All that remains in it is then spent, and `epsilon` and `delta` are not used.
    confidence : float
        Of each interval, in (0.5, 1).
    within : float, str or Width, optional
        How far the ends of each interval may be from its middle, such as 5, "2%" or `Width("2%", rows=10_000)`: then
        the least epsilon that does is found from public facts, and `epsilon` is not used.
    jointly : bool
        Whether all intervals together hold with the confidence, and not each of them.
    random_state : int or SeedSequence, optional
        None draws secure noise. A seed makes a run that can be repeated and is not private.
    key : str, optional
        With the account of a ledger: the name of the job, so that one that was killed and runs again does not pay
        twice.

    Returns
    -------
    StatisticsTable
        The answers with their intervals, and `release_`.

    Formal guarantees
    -----------------
    * Neighbours: those that the table declares, between units (a row, or all rows of a user: none is left out,
      their contributions are weighed).
    * Privacy: what is released satisfies the curve of the account, or (epsilon, delta). Every measurement is charged to
      it before its noise is drawn; the noise is exact, on whole numbers.
    * Public: the schema, the questions, the plan, and with them the shape of the answer: every declared group is
      answered, whether rows fall into it or not.
    * Intervals cover noise: of the table's own value, clipped and weighed as the answer says.

    Examples
    --------
    >>> from holdfast.data import Categorical, Numeric, Schema, open_table
    >>> from holdfast.statistics import Count, Mean, answer, by
    >>> schema = Schema([Categorical("ward", ["a", "b"]), Numeric("cost", 0, 100)], adjacency="add_remove")
    >>> rows = {"ward": ["a", "b"] * 500, "cost": [20, 60] * 500}
    >>> answers = answer(open_table(rows, schema), [by("ward", Count(), Mean("cost"))], epsilon=1.0)
    >>> [round(mean, -1) for mean in answers.to_pandas()["mean_cost"]]
    [20.0, 60.0]
    """
    require(0.5 < confidence < 1, "confidence", confidence, "in (0.5, 1)")
    facts = TableFacts.of(table)
    declared, unknown = unknown_groups(questions, facts)
    units = facts.n_public
    found: list[FoundGroups] = []
    if unknown:
        known = (key, within) == (None, None) and not jointly
        require(known, "key, within, jointly", (key, within, jointly), "left out with unknown keys")
        if account is None:
            wanted = limit_of(epsilon, delta, count=units)
            require_small_delta(wanted, units)
            warn_weak_limit(wanted)
            account = Account(
                wanted,
                adjacency=facts.adjacency,
                unit=facts.unit,
                currency="basic",
                seed=seed_of(random_state),
            )
        _admit(facts, account)
        require_something_left(account)
        found = find_groups(table, unknown, declared, account, facts)
    listed = [*declared, *(entry for group in found for entry in group.entries())]
    asked = asked_of(listed, facts) if listed or not found else ()
    if jointly:
        confidence = 1.0 - (1.0 - confidence) / _numbers(asked, facts)
    if within is not None:
        require(account is None, "within", within, "left out with an account, which is spent whole")
        width = within if isinstance(within, Width) else Width(within)
        epsilon = least_epsilon(asked, facts, width, delta=delta, confidence=confidence)
    if account is None:
        wanted = limit_of(epsilon, delta, count=units)
        require_small_delta(wanted, units)
        plan = AnswerPlan.of(asked, facts, wanted)
        warn_weak_limit(plan.limit)
        account = Account(
            plan.limit if plan.currency == "pure" else wanted,
            adjacency=facts.adjacency,
            unit=facts.unit,
            currency=plan.currency,
            seed=seed_of(random_state),
        )
    elif asked:
        _admit(facts, account)
        require_something_left(account)
        plan = AnswerPlan.paid_by(asked, facts, account)
    else:
        plan = AnswerPlan(facts=facts, asked=(), steps=(), limit=account.promised, currency="pure")
    useless = announce([influence(plan.limit, units, noun=facts.unit.noun)])
    noisy = [
        step.measurement.measure(
            table, Purse(account=account, share=step.share, label=step.measurement.label, key=key), facts
        )
        for step in plan.steps
    ]
    tables = tables_of(plan, noisy, confidence)
    for group in found:
        tables = group.joined(tables, facts, confidence)
    release = Release.paid_by(
        account,
        contents_value([*(group.to_json() for group in found), *plan.to_json()], tables, confidence),
        Provenance(
            method="statistics",
            estimator="answer",
            parameters={"questions": len(questions), "measurements": len(plan.steps) + len(found)},
            schema_hash=facts.schema.hash(),
        ),
        assumptions=table.assumptions,
        prospects=useless,
    )
    return StatisticsTable(release)


def _numbers(asked: Sequence[Asked], facts: TableFacts) -> int:
    """How many intervals there are, at least one for each question and group."""
    plan = AnswerPlan.of(asked, facts, limit_of(1.0, None))
    typical = {
        place: step.measurement.expected(step.share, facts) for step in plan.steps for place in step.questions
    }
    return sum(
        estimate.value.size
        for place, entry in enumerate(asked)
        for estimate in entry.question.estimates(typical[place], facts, 0.95)
    )


def _admit(facts: TableFacts, account: Account) -> None:
    """Refuse an account for other neighbours or units."""
    if facts.adjacency is not account.adjacency or facts.unit != account.unit:
        raise AdjacencyError(
            f"the rows declare adjacency={facts.adjacency.value!r} of {facts.unit.summary()}, the account "
            f"{account.adjacency.value!r} of {account.unit.summary()}; open the account as the rows declare"
        )

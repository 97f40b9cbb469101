"""The contract of a membership attack: it finds a planted leak, sees no answers, and raises no false alarm.

An attack that sees the answers would make every proof look refuted, and one that answers at random would make every
model look safe. On people of whom nobody is a member, an attack must do no better than chance, else its p-value is not
valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu

from holdfast._arguments import Seed
from holdfast._arrays import Floats
from holdfast.attack._attack import Attack
from holdfast.attack._membership_result import MembershipResult
from holdfast.attack._models.model_case import ModelCase, views
from holdfast.attack._models.shadow import reference_models
from holdfast.attack._models.target import Target
from holdfast.attack._records import Records
from holdfast.attack._rows.released_rows import by_spread
from holdfast.attack._rows.rows_case import RowsCase
from holdfast.testing._contract import Check, ensure
from holdfast.testing._practice_models import practice_model, practice_people

Game = tuple[Any, NDArray[np.bool_]]
"""A case, and for each of its records whether it was in the data."""
FALSE_ALARM = 1e-6
"""The probability, at most, with which one check refuses a sound attack, before its seed was fixed."""
RECORDS = 300


def _model_game(attack: Attack, task: str, *, leak: bool, seed: Seed) -> Game:
    """A model that was trained on the members (`leak`) or on other people; members and others are mixed."""
    sees_weights = "weights" in attack.knows
    count, columns = 2 * RECORDS, 300 if sees_weights else 5
    rows, labels = practice_people(3 * RECORDS, seed=seed, columns=columns, task=task)
    random = np.random.default_rng([seed, 1])
    member = np.zeros(count, dtype=np.bool_)
    member[random.permutation(count)[:RECORDS]] = True
    trained_on = np.flatnonzero(member) if leak else count + np.arange(RECORDS)
    model = practice_model(task, inside=sees_weights, leak=leak)
    target = Target.of(model.fit(rows[trained_on], labels[trained_on]))
    records = Records.of((rows[:count], labels[:count]), "members")
    references = None
    if "references" in attack.knows:
        references = reference_models(
            model,
            records,
            models=4,
            random_state=seed,
            jobs=1,
            views=views([attack], target),
            classes=target.classes or None,
        )
    others = practice_people(RECORDS, seed=seed + 1000, columns=columns, task=task)
    case = ModelCase(
        target=target, records=records, references=references, population=Records.of(others, "reference")
    )
    return case, member


def _rows_game(attack: Attack, *, leak: bool, seed: Seed) -> Game:
    """Released rows that are copies of the members (`leak`), or independent of them."""
    random = np.random.default_rng(seed)
    people, independent_rows, others = (
        random.normal(size=(size, 6)) for size in (2 * RECORDS, RECORDS, RECORDS)
    )
    member = np.zeros(2 * RECORDS, dtype=np.bool_)
    member[random.permutation(2 * RECORDS)[:RECORDS]] = True
    rows = people[member] if leak else independent_rows
    reader = by_spread(rows)
    return RowsCase(rows=reader(rows), records=reader(people), population=reader(others)), member


def _games(attack: Attack) -> dict[str, Callable[..., Game]]:
    """The games in which an attack is tried, by task."""
    if attack.kind == "rows":
        return {"rows": partial(_rows_game, attack)}
    return {task: partial(_model_game, attack, task) for task in attack.tasks}


def finds_a_planted_leak(attack: Attack, play: Callable[..., Game]) -> None:
    """Where everybody's record was learned by heart, members score higher than others: p at most 1e-6."""
    case, member = play(leak=True, seed=1)
    scores = attack(case)
    p_value = _p_value(scores, member)
    ensure(
        p_value <= 1e-6,
        f"members of a model that knows them by heart do not score higher (p = {p_value:.2g})",
    )


def raises_no_alarm_where_there_is_nothing(attack: Attack, play: Callable[..., Game]) -> None:
    """Of records that nobody learned, those that are called members score as the others do; its p-value is valid.

    Who is called a member is drawn after the model and the released rows were made, so a score that tells them apart
    has seen the answers. Eight games are added up.
    """
    areas, variance = [], 0.0
    for seed in range(2, 10):
        case, member = play(leak=False, seed=seed)
        scores = attack(case)
        areas.append(
            MembershipResult(
                attack=attack.name, member_scores=scores[member], non_member_scores=scores[~member]
            ).auc
        )
        size = RECORDS
        variance += (2 * size + 1) / (12 * size * size)  # the variance of the area under the null, at most
    shift = (float(np.sum(areas)) - 0.5 * len(areas)) / np.sqrt(variance)
    ensure(
        abs(shift) <= 5.0,
        f"records that nobody learned are told apart (mean area {np.mean(areas):.3f}): it sees who is a member, or "
        "its p-value is not valid",
    )


def judges_records_wherever_they_stand(attack: Attack, play: Callable[..., Game]) -> None:
    """Scores belong to records and not to places: where members come first, the attack cannot tell."""
    case, member = play(leak=False, seed=20)
    order = np.argsort(~member, kind="stable")
    reordered = _reordered_case(case, order)
    scores = attack(reordered)
    expected = attack(case)[order]
    stands_first = np.arange(scores.size) < member.sum()
    p_value = min(_p_value(scores, stands_first), _p_value(-scores, stands_first))
    rank_correlation = _rank_correlation(scores, expected)
    ensure(
        p_value > FALSE_ALARM,
        f"members are known from their place (p = {p_value:.2g}): it peeks at the order",
    )
    ensure(
        rank_correlation > 0.5 or np.ptp(expected) == 0,
        f"the order of the records changes their scores (rank correlation {rank_correlation:.2f})",
    )


def repeats_itself(attack: Attack, play: Callable[..., Game]) -> None:
    """The same case gives the same scores; coins come from the case."""
    case, _ = play(leak=False, seed=30)
    same_case, _ = play(leak=False, seed=30)
    same = np.array_equal(attack(case), attack(same_case))
    ensure(same, "two runs on one case differ: draw from case.random")


def _reordered_case(case: Any, order: NDArray[np.intp]) -> Any:
    from dataclasses import replace

    references = getattr(case, "references", None)
    knowledge = {} if references is None else {"references": references.take(order)}
    return replace(case, records=case.records.take(order), **knowledge)


def _p_value(scores: Floats, member: NDArray[np.bool_]) -> float:
    if np.ptp(scores) == 0:
        return 1.0
    return float(mannwhitneyu(scores[member], scores[~member], alternative="greater").pvalue)


def _rank_correlation(first: Floats, second: Floats) -> float:
    from scipy.stats import spearmanr

    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 1.0
    return float(spearmanr(first, second).statistic)


MEMBERSHIP_CHECKS: tuple[Callable[[Any, Callable[..., Game]], None], ...] = (
    finds_a_planted_leak,
    raises_no_alarm_where_there_is_nothing,
    judges_records_wherever_they_stand,
    repeats_itself,
)


def membership_checks(attack: Attack) -> Iterator[Check]:
    """What must hold of a membership attack, on everything that it says it is made for."""
    for task, play in _games(attack).items():
        for check in MEMBERSHIP_CHECKS:
            yield Check(name=f"{check.__name__}-{task}", run=partial(check, attack, play), slow=True)

"""The contract of an attack on an attribute: it finds what a release gives away, and nothing where it gives nothing.

A case does not hold the answers, so an attack cannot read them. It could still do wrong: guess at random, recognise
members by their place, or report a difference between two groups of people whom no model was trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import Seed
from holdfast._arrays import Codes
from holdfast.attack._attack import Attack
from holdfast.attack._attributes.attribute_case import AttributeCase, Response, RowsSeen, guesses
from holdfast.attack._attributes.linear_inside import LinearInside
from holdfast.testing._contract import Check, ensure

OWN_PEOPLE, JUDGED_PEOPLE, RELEASED_ROWS = 120, 400, 600
FALSE_ALARM = 1e-6
"""The probability, at most, with which one check refuses a sound attack, before its seed was fixed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GuessingGame:
    """A case, and the secret of each person who is judged."""

    case: AttributeCase
    truth: Codes

    def is_guessed(self, attack: Attack) -> NDArray[np.bool_]:
        """For each person who is judged, whether the attack guesses the secret."""
        guessed_codes, _ = guesses(attack(self.case)[self.case.own :])
        return np.asarray(guessed_codes == self.truth)


def guessing_game(
    release_kind: str, *, effect: float, seed: Seed, kinds: int = 2, draws: int = 1
) -> GuessingGame:
    """People with a secret, and a release that depends on it by `effect`.

    The release is a linear model ("classification" or "regression") or "rows". With an effect of 0 neither the release
    nor the response depends on the secret.
    """
    random = np.random.default_rng(seed)
    count = OWN_PEOPLE + JUDGED_PEOPLE
    secret = random.integers(0, kinds, size=count)
    known = random.normal(size=(count, 2))
    if release_kind == "rows":
        released_secret = random.integers(0, kinds, size=RELEASED_ROWS)
        known[:, 0] += effect * secret
        released_known = random.normal(size=(RELEASED_ROWS, 2)) + np.outer(
            effect * released_secret, [1.0, 0.0]
        )
        case = AttributeCase(
            kinds=kinds,
            own_values=secret[:OWN_PEOPLE],
            known=known,
            rows=RowsSeen(known=released_known, codes=released_secret),
        )
        return GuessingGame(case=case, truth=secret[OWN_PEOPLE:])
    weights = np.array([effect, 0.5, 0.0, -effect * (kinds - 1) / 2.0])
    designs = np.stack(
        [np.column_stack([np.full(count, float(v)), known, np.ones(count)]) for v in range(kinds)]
    )
    scores_by_value = designs @ weights
    linear_scores = scores_by_value[secret, np.arange(count)]
    if release_kind == "classification":
        label = (linear_scores + random.logistic(size=count) > 0).astype(np.int64)
        response = Response(known="exact", block=np.eye(2)[label], codes=label)
        probability = 1.0 / (1.0 + np.exp(-scores_by_value.T))
        answers = np.stack([1.0 - probability, probability], axis=-1)
    else:
        number = linear_scores + random.normal(size=count)
        response = Response(known="exact", block=number[:, None], numbers=number)
        label, answers = number, scores_by_value.T
    case = AttributeCase(
        kinds=kinds,
        own_values=secret[:OWN_PEOPLE],
        known=known,
        response=response,
        answers=np.stack([answers] * draws),
        inside=LinearInside(
            weights=weights,
            own_design=designs[secret, np.arange(count)][:OWN_PEOPLE],
            designs=designs[:, OWN_PEOPLE:],
            labels=label.astype(np.float64),
            loss="logistic" if release_kind == "classification" else "squared",
            trained_on=JUDGED_PEOPLE,
        ),
    )
    return GuessingGame(case=case, truth=secret[OWN_PEOPLE:])


def _names_what_it_lacks(attack: Attack) -> None:
    """A case without any release is refused."""
    empty_case = AttributeCase(kinds=2, own_values=np.array([0, 1, 1]), known=np.zeros((5, 1)))
    ensure(bool(attack.obstacle(empty_case)), "it runs without any release: say in `knows` what it reads")


def _finds_what_is_given_away(attack: Attack, release_kind: str) -> None:
    """Where release and response follow the secret, people are guessed better than by the commonest value."""
    from scipy.stats import binom

    game = guessing_game(release_kind, effect=4.0, seed=1)
    is_guessed, commonest_share = (
        game.is_guessed(attack),
        float(np.bincount(game.truth).max()) / JUDGED_PEOPLE,
    )
    p_value = float(binom.sf(is_guessed.sum() - 1, JUDGED_PEOPLE, commonest_share))
    ensure(
        p_value <= FALSE_ALARM,
        f"a secret that release and response follow is guessed right in {is_guessed.mean():.2f} of cases only, and the "
        f"commonest value is right in {commonest_share:.2f}",
    )


def _finds_nothing_where_there_is_nothing(attack: Attack, release_kind: str) -> None:
    """Without influence, guesses are as good as a coin, and neither of two halves of strangers is guessed better.

    The halves are drawn after the release was made. The results of eight games are added up.
    """
    excess, difference, games = 0.0, 0.0, range(2, 10)
    for seed in games:
        game = guessing_game(release_kind, effect=0.0, seed=seed)
        is_guessed = game.is_guessed(attack)
        in_first_half = np.random.default_rng([seed, 1]).permutation(JUDGED_PEOPLE) < JUDGED_PEOPLE // 2
        excess += float(is_guessed.mean()) - 0.5
        difference += float(is_guessed[in_first_half].mean() - is_guessed[~in_first_half].mean())
    spread = 0.5 * np.sqrt(len(games) / JUDGED_PEOPLE)
    ensure(
        abs(excess) <= 5.0 * spread,
        f"a coin is guessed right in {0.5 + excess / len(games):.3f} of cases, from a release that has nothing to do "
        "with it: it sees the answers",
    )
    ensure(
        abs(difference) <= 5.0 * 2.0 * spread,
        f"people that nobody learned are told apart (mean difference {difference / len(games):+.3f}): it sees who is a "
        "member",
    )


def _judges_people_wherever_they_stand(attack: Attack, release_kind: str) -> None:
    """Guesses belong to people and not to places: members come first, and the attack must not know."""
    game = guessing_game(release_kind, effect=1.0, seed=20)
    order = np.random.default_rng(21).permutation(JUDGED_PEOPLE)
    reordered = _reordered_case(game.case, order)
    first = guesses(attack(game.case)[OWN_PEOPLE:])
    second = guesses(attack(reordered)[OWN_PEOPLE:])
    agreement = float(np.mean(first[0][order] == second[0]))
    ensure(
        agreement > 0.9,
        f"the place of people changes {1 - agreement:.0%} of the guesses about them: it peeks at the order",
    )
    score_change = float(np.mean(np.abs(first[1][order] - second[1])))
    ensure(
        score_change < 0.1,
        f"the place of people changes how sure it is of them, by {score_change:.2f} on average",
    )


def _repeats_itself(attack: Attack, release_kind: str) -> None:
    """The same case gives the same scores."""
    first, second = (attack(guessing_game(release_kind, effect=1.0, seed=30).case) for _ in range(2))
    ensure(
        bool(np.array_equal(first, second)), "two runs on one case differ: coins must come from a fixed seed"
    )


def _takes_any_case(attack: Attack, release_kind: str) -> None:
    """Any number of candidate values, drawn unknown columns, few own people, and own people who share one value."""
    for kinds, draws, own_people in ((3, 2, OWN_PEOPLE), (2, 1, 12)):
        case = guessing_game(release_kind, effect=1.0, seed=40, kinds=kinds, draws=draws).case
        if draws > 1:
            case = replace(case, inside=None)
        if attack.obstacle(case) is None:
            scores = attack(case if own_people == OWN_PEOPLE else case.at(own_people))
            ensure(
                scores.shape == (own_people + JUDGED_PEOPLE, kinds),
                f"{scores.shape} scores for {own_people + JUDGED_PEOPLE} people and {kinds} values",
            )
    one_value_case = guessing_game(release_kind, effect=1.0, seed=41).case
    attack(replace(one_value_case, own_values=np.zeros_like(one_value_case.own_values)))


def _reordered_case(case: AttributeCase, order: NDArray[np.intp]) -> AttributeCase:
    """The same case with the people who are judged in another order."""
    rows = np.concatenate([np.arange(case.own), case.own + order])
    inside = case.inside
    return replace(
        case,
        known=case.known[rows],
        response=None if case.response is None else case.response.take(rows),
        answers=None if case.answers is None else case.answers[:, rows],
        inside=None
        if inside is None
        else replace(inside, designs=inside.designs[:, order], labels=inside.labels[rows]),
    )


ATTRIBUTE_CHECKS: tuple[Callable[[Attack, str], None], ...] = (
    _finds_what_is_given_away,
    _finds_nothing_where_there_is_nothing,
    _judges_people_wherever_they_stand,
    _repeats_itself,
    _takes_any_case,
)


def attribute_checks(attack: Attack) -> Iterator[Check]:
    """What must hold of an attack on an attribute, on everything that it says it is made for."""
    yield Check(name="names_what_it_lacks", run=partial(_names_what_it_lacks, attack))
    games: tuple[str, ...] = ("rows",) if "rows" in attack.knows else attack.tasks
    for release_kind in games:
        for check in ATTRIBUTE_CHECKS:
            yield Check(name=f"{check.__name__[1:]}-{release_kind}", run=partial(check, attack, release_kind))

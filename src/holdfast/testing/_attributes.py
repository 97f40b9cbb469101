"""The contract of an attack on an attribute: it finds what a release gives away, and nothing where it gives nothing.

A case does not hold the answers, so none can be read. What an attack could do wrong all the same: guess at random, know
members by their place, and call a difference between two halves of people that no model ever saw.
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

OWN, JUDGED, ROWS = 120, 400, 600
FALSE_ALARM = 1e-6
"""The probability, at most, with which one check refuses a sound attack: its seeds are fixed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GuessingGame:
    """A case, and what is true of the people who are judged."""

    case: AttributeCase
    truth: Codes

    def right(self, attack: Attack) -> NDArray[np.bool_]:
        """Who is guessed right, of those who are judged."""
        guessed, _ = guesses(attack(self.case)[self.case.own :])
        return np.asarray(guessed == self.truth)


def guessing_game(what: str, *, effect: float, seed: Seed, kinds: int = 2, draws: int = 1) -> GuessingGame:
    """People with a secret, and a release that depends on it by `effect`: a linear model of a task, or "rows".

    With an effect of 0 neither release nor response has to do with the secret.
    """
    random = np.random.default_rng(seed)
    count, task = OWN + JUDGED, what
    secret = random.integers(0, kinds, size=count)
    known = random.normal(size=(count, 2))
    if what == "rows":
        released = random.integers(0, kinds, size=ROWS)
        known[:, 0] += effect * secret
        beside = random.normal(size=(ROWS, 2)) + np.outer(effect * released, [1.0, 0.0])
        case = AttributeCase(
            kinds=kinds, own_values=secret[:OWN], known=known, rows=RowsSeen(known=beside, codes=released)
        )
        return GuessingGame(case=case, truth=secret[OWN:])
    weights = np.array([effect, 0.5, 0.0, -effect * (kinds - 1) / 2.0])
    designs = np.stack(
        [np.column_stack([np.full(count, float(v)), known, np.ones(count)]) for v in range(kinds)]
    )
    scores = designs @ weights
    said = scores[secret, np.arange(count)]
    if task == "classification":
        label = (said + random.logistic(size=count) > 0).astype(np.int64)
        response = Response(known="exact", block=np.eye(2)[label], codes=label)
        sure = 1.0 / (1.0 + np.exp(-scores.T))
        answers = np.stack([1.0 - sure, sure], axis=-1)
    else:
        number = said + random.normal(size=count)
        response = Response(known="exact", block=number[:, None], numbers=number)
        label, answers = number, scores.T
    case = AttributeCase(
        kinds=kinds,
        own_values=secret[:OWN],
        known=known,
        response=response,
        answers=np.stack([answers] * draws),
        inside=LinearInside(
            weights=weights,
            own_design=designs[secret, np.arange(count)][:OWN],
            designs=designs[:, OWN:],
            labels=label.astype(np.float64),
            loss="logistic" if task == "classification" else "squared",
            trained_on=JUDGED,
        ),
    )
    return GuessingGame(case=case, truth=secret[OWN:])


def _names_what_it_lacks(attack: Attack) -> None:
    """A case without a release is refused: what is guessed from it is no attack on a release."""
    bare = AttributeCase(kinds=2, own_values=np.array([0, 1, 1]), known=np.zeros((5, 1)))
    ensure(bool(attack.obstacle(bare)), "it runs without any release: say in `knows` what it reads")


def _finds_what_is_given_away(attack: Attack, what: str) -> None:
    """Where release and response follow the secret, people are guessed better than by the commonest value."""
    from scipy.stats import binom

    game = guessing_game(what, effect=4.0, seed=1)
    right, most = game.right(attack), float(np.bincount(game.truth).max()) / JUDGED
    p_value = float(binom.sf(right.sum() - 1, JUDGED, most))
    ensure(
        p_value <= FALSE_ALARM,
        f"a secret that release and response follow is guessed right in {right.mean():.2f} of cases only, and the "
        f"commonest value is right in {most:.2f}",
    )


def _finds_nothing_where_there_is_nothing(attack: Attack, what: str) -> None:
    """Zero influence: guesses are as good as a coin, and of two halves that nobody learned none is guessed better.

    The halves are drawn after the release was made. Eight games are added up.
    """
    above, apart, games = 0.0, 0.0, range(2, 10)
    for seed in games:
        game = guessing_game(what, effect=0.0, seed=seed)
        right = game.right(attack)
        half = np.random.default_rng([seed, 1]).permutation(JUDGED) < JUDGED // 2
        above += float(right.mean()) - 0.5
        apart += float(right[half].mean() - right[~half].mean())
    spread = 0.5 * np.sqrt(len(games) / JUDGED)
    ensure(
        abs(above) <= 5.0 * spread,
        f"a coin is guessed right in {0.5 + above / len(games):.3f} of cases, from a release that has nothing to do "
        "with it: it sees the answers",
    )
    ensure(
        abs(apart) <= 5.0 * 2.0 * spread,
        f"people that nobody learned are told apart (mean difference {apart / len(games):+.3f}): it sees who is a "
        "member",
    )


def _judges_people_wherever_they_stand(attack: Attack, what: str) -> None:
    """Guesses belong to people and not to places: members come first, and the attack must not know."""
    game = guessing_game(what, effect=1.0, seed=20)
    order = np.random.default_rng(21).permutation(JUDGED)
    moved = _reordered_case(game.case, order)
    first = guesses(attack(game.case)[OWN:])
    second = guesses(attack(moved)[OWN:])
    same = float(np.mean(first[0][order] == second[0]))
    ensure(
        same > 0.9,
        f"the place of people changes {1 - same:.0%} of the guesses about them: it peeks at the order",
    )
    far = float(np.mean(np.abs(first[1][order] - second[1])))
    ensure(far < 0.1, f"the place of people changes how sure it is of them, by {far:.2f} on average")


def _repeats_itself(attack: Attack, what: str) -> None:
    """The same case gives the same scores."""
    first, again = (attack(guessing_game(what, effect=1.0, seed=30).case) for _ in range(2))
    ensure(
        bool(np.array_equal(first, again)), "two runs on one case differ: coins must come from a fixed seed"
    )


def _takes_any_case(attack: Attack, what: str) -> None:
    """Several candidates, unknown columns that are drawn, few people of one's own, one kind among them."""
    for kinds, draws, own in ((3, 2, OWN), (2, 1, 12)):
        case = guessing_game(what, effect=1.0, seed=40, kinds=kinds, draws=draws).case
        if draws > 1:
            case = replace(case, inside=None)
        if attack.obstacle(case) is None:
            scores = attack(case if own == OWN else case.at(own))
            ensure(
                scores.shape == (own + JUDGED, kinds),
                f"{scores.shape} scores for {own + JUDGED} people and {kinds} values",
            )
    alike = guessing_game(what, effect=1.0, seed=41).case
    attack(replace(alike, own_values=np.zeros_like(alike.own_values)))


def _reordered_case(case: AttributeCase, order: NDArray[np.intp]) -> AttributeCase:
    """The same people, those who are judged in another order."""
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


EACH_GAME: tuple[Callable[[Attack, str], None], ...] = (
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
    for what in games:
        for check in EACH_GAME:
            yield Check(name=f"{check.__name__[1:]}-{what}", run=partial(check, attack, what))

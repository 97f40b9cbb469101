"""attribute_risk(): how much better a column of people is guessed with a release than without it.

Two attackers are compared: one has the release, the other, the imputer, has not. Both have the same people of their
own, the same learner, and the same knowledge about everybody else. They guess about members and about fresh people, so
that what is learnt about people in general is separated from what leaks about those in the data (soundness, section
27).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast._arguments import Seed, checked
from holdfast._arrays import Codes, Floats
from holdfast.attack._attack import Attack, playable
from holdfast.attack._attributes.attacker import Attacker, Scoring
from holdfast.attack._attributes.attribute_case import AttributeCase, RowsSeen, guesses
from holdfast.attack._attributes.attribute_result import AttributeResult
from holdfast.attack._attributes.discriminant import learner_of
from holdfast.attack._attributes.outcome import GroupRisk, RightGuesses, group_risks
from holdfast.attack._attributes.people import People
from holdfast.attack._attributes.players import Players, players_by_coins, players_of_tables
from holdfast.attack._attributes.release_seen import response_of
from holdfast.attack._attributes.secret import Secret
from holdfast.attack._catalogue import find_attacks, notes_about
from holdfast.attack._proof import comparable_curve
from holdfast.attack._report import AttackReport
from holdfast.attack._rows.disclosure_result import DisclosureResult
from holdfast.attack._synthetic_disclosure import synthetic_disclosure
from holdfast.data._schema import Categorical, Schema
from holdfast.errors import require
from holdfast.privacy._adjacency import Adjacency

UNKNOWN_DRAWS = 8
"""How often the columns that the attacker does not know are drawn."""
SMALLEST_GROUP = 30
"""Groups of fewer fresh people are not reported."""


@checked
def attribute_risk(
    model: Any,
    table: Any,
    *,
    sensitive: str | Sequence[str | Sequence[str]],
    attacker: Attacker | None = None,
    target: str | None = None,
    fresh: Any = None,
    train: Callable[[Any], Any] | None = None,
    schema: Schema | None = None,
    scoring: Scoring | None = None,
    random_state: Seed | None = None,
) -> AttackReport[AttributeResult]:
    """How well a sensitive column is guessed with a model or released rows, and without.

    Parameters
    ----------
    model : object
        A fitted estimator, a callable that predicts numbers, a release or its path; what `Target.of` makes of a
        callable that gives probabilities (`classes=`) or takes something else than the columns (`prepare=`); or
        released rows: a frame, a synthesiser, a synthetic release.
    table : table
        The people it was made from.
    sensitive : str or sequence
        A column, several, each in turn, or "all"; a tuple in the list is guessed as one.
    attacker : Attacker, optional
        What the attacker knows and has, and which attacks are made; by default all columns, and all attacks.
    target : str, optional
        The column that the model predicts; where it is not named, the one that the model does not read.
    fresh : table, optional
        Other people of the same kind, of whom some become the attacker's own. Without them the table is cut in three
        at random, own people, members, fresh people, and an estimator is fitted anew to the members: the game with
        coins.
    train : callable, optional
        In the game with coins, from a table to a model (or to what `Target.of` makes of one) or to rows, in place of
        fitting the estimator anew.
    schema : Schema, optional
        How columns are read; a table or a release brings its own, and of frames the values that occur are taken.
    scoring : Scoring, optional
        How many people are guessed about, how the guesses are scored, and against which promise; by default that of the
        release.
    random_state : int, optional
        The same one gives the same report.

    Returns
    -------
    AttackReport
        Of kind "attribute", with an `AttributeResult` for each sensitive column.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> people = {"gene": random.integers(0, 2, 1500), "age": random.integers(0, 5, 1500)}
    >>> people["dose"] = 2.0 * people["gene"] + people["age"] + random.normal(size=1500)
    >>> def train(rows):                                             # a model as anyone would publish it
    ...     return lambda X: 2.0 * np.asarray(X["gene"]).astype(float) + np.asarray(X["age"]).astype(float)
    >>> report = attribute_risk(train(people), people, sensitive="gene", target="dose", train=train, random_state=0)
    >>> gene = report["gene"]
    >>> bool(gene.outcome("bayes").accuracy() > 0.75), gene.sizes, gene.audience
    (True, (50, 200, 500), 'internal')
    """
    if schema is not None:
        schema.require_confirmed()
    attacker = Attacker() if attacker is None else attacker
    scoring = Scoring() if scoring is None else scoring
    require(
        fresh is None or train is None,
        "train",
        "...",
        "None with fresh=: then the model is attacked as it is",
    )
    random = np.random.default_rng(random_state)
    chosen = find_attacks(attacker.attacks, "attribute")
    if fresh is None:
        players = players_by_coins(model, table, target, train, schema, scoring.people, random)
    else:
        players = players_of_tables(model, table, fresh, target, schema, scoring.people, random)
    curve, notes = comparable_curve(
        players.release.guarantee if scoring.proved is None else scoring.proved,
        Adjacency.of(scoring.adjacency),
    )
    if players.left_out:
        notes["target"] = f"{players.left_out:,} people have no value of {players.target!r}, and are left out"
    notes |= notes_about(chosen)
    disclosure = _disclosure(players, scoring.confidence, random_state) if scoring.disclosure else None
    results: list[AttributeResult] = []
    for columns in _secrets(sensitive, players):
        start = time.perf_counter()
        secret = Secret.of(columns, players.own)
        known = _known_columns(attacker.knows, columns, players)
        case, truth = _case(players, secret, known, chosen, attacker, random)
        outcomes = _outcomes(case, truth, players.members.count, _sizes(attacker.own, players), chosen)
        result = AttributeResult(
            sensitive=secret.name,
            knows=known,
            kinds=secret.count,
            imputer=outcomes.imputer,
            attacks=outcomes.attacks,
            surest_k=min(scoring.surest, players.members.count, players.fresh.count),
            skipped=outcomes.skipped,
            notes=notes,
            groups=_groups(outcomes, players.fresh, known, scoring),
            game=players.membership,
            adjacency=Adjacency.of(scoring.adjacency),
            proved=curve,
            confidence=scoring.confidence,
            seconds=time.perf_counter() - start,
            seed=random_state,
            disclosure=None if results else disclosure,
        )
        results.append(result)
    skipped = {name: why for result in results for name, why in result.skipped.items()}
    return AttackReport(
        kind="attribute", results=tuple(results), skipped=skipped, notes=notes, disclosure=disclosure
    )


def _disclosure(
    players: Players, confidence: float, seed: Seed | None
) -> AttackReport[DisclosureResult] | None:
    """Where rows were released: what they disclose about whole people, members against fresh ones."""
    schema = players.release.schema or players.members.schema
    if players.release.rows is None or len(schema.names) < 2:
        return None
    names = list(schema.names)
    return synthetic_disclosure(
        players.release.rows,
        members={name: players.members.raw[name] for name in names},
        control={name: players.fresh.raw[name] for name in names},
        schema=schema,
        confidence=confidence,
        random_state=seed or 0,
    )


def _secrets(sensitive: Any, players: Players) -> list[tuple[str, ...]]:
    if sensitive == "all":
        names: Sequence[Any] = [name for name in players.own.schema.names if name != players.target]
    else:
        names = [sensitive] if isinstance(sensitive, str) else list(sensitive)
    secrets = [(group,) if isinstance(group, str) else tuple(group) for group in names]
    require(len(secrets) >= 1, "sensitive", sensitive, "one column or more")
    require(
        players.target is None or all(players.target not in secret for secret in secrets),
        "sensitive",
        players.target,
        "a column that the model reads, not the one that it predicts",
    )
    return secrets


def _known_columns(
    knows: Sequence[str] | None, columns: tuple[str, ...], players: Players
) -> tuple[str, ...]:
    names = players.own.schema.names
    if knows is None:
        return tuple(name for name in names if name not in columns and name != players.target)
    strange = [name for name in knows if name not in names]
    require(not strange, "knows", strange, f"made of columns of the table: {', '.join(names)}")
    return tuple(name for name in knows if name not in columns and name != players.target)


def _sizes(sizes: Sequence[int], players: Players) -> tuple[int, ...]:
    most = min(players.own.count, max(sizes))
    return tuple(sorted({*(size for size in sizes if size < most), most}))


def _case(
    players: Players,
    secret: Secret,
    known: tuple[str, ...],
    chosen: tuple[Attack, ...],
    attacker: Attacker,
    random: np.random.Generator,
) -> tuple[AttributeCase, Codes]:
    """The attacker's case, and the true values of members and fresh people, which are no part of it."""
    people = players.own.join(players.members).join(players.fresh)
    codes = secret.codes(people)
    base: dict[str, Any] = {
        "kinds": secret.count,
        "own_values": codes[: players.own.count],
        "known": people.features(known),
        "learner": lambda: learner_of(attacker.learner),
    }
    if players.release.target is None:
        rows = People.of(players.release.rows, people.schema)
        values = secret.codes(rows)
        present = values >= 0
        base["rows"] = RowsSeen(known=rows.features(known)[present], codes=values[present])
        return AttributeCase(**base), codes[players.own.count :]
    assert players.target is not None
    own = players.own.count
    response = response_of(
        people,
        players.target,
        players.release.target,
        known=attacker.response,
        error=attacker.response_error,
        own=own,
        random=random,
    )
    columns = players.release.with_columns(people.schema.names, players.target)
    hidden = [name for name in columns if name not in known and name not in secret.columns]
    unknown_draws = [
        _drawn_values(players.own, hidden, people.count, random)
        for _ in range(UNKNOWN_DRAWS if hidden else 1)
    ]
    # A sensitive column that the model does not read is tried all the same: every candidate gets the same answer.
    weights_used = not hidden and any("weights" in attack.knows for attack in chosen)
    inside = (
        players.release.inside(people, secret, columns, response, own=own, trained_on=players.trained_on)
        if weights_used
        else None
    )
    return (
        AttributeCase(
            **base,
            response=response,
            answers=players.release.answers(people, secret, columns, unknown_draws),
            inside=inside,
            labels_only=players.release.target.labels_only
            or (response.codes is not None and attacker.response == "label"),
        ),
        codes[own:],
    )


def _drawn_values(
    own: People, hidden: Sequence[str], count: int, random: np.random.Generator
) -> Mapping[str, Any]:
    """Values of the unknown columns for everybody, drawn jointly from the attacker's own people."""
    sample = own.take(random.integers(0, own.count, size=count))
    return {name: sample.raw[name] for name in hidden}


@dataclass(frozen=True, kw_only=True, eq=False)
class _Outcomes:
    """Which guesses are right without the release and by each attack, for each number of own people."""

    imputer: dict[int, RightGuesses]
    attacks: dict[str, dict[int, RightGuesses]]
    skipped: dict[str, str]


def _outcomes(
    case: AttributeCase, truth: Codes, members: int, sizes: tuple[int, ...], chosen: tuple[Attack, ...]
) -> _Outcomes:
    playing, skipped = playable(chosen, lambda attack: case)
    outcomes = _Outcomes(imputer={}, attacks={attack.name: {} for attack in playing}, skipped=skipped)
    for size in sizes:
        at = case.at(size)
        outcomes.imputer[size] = _outcome(at.imputation, at.own, truth, members)
        for attack in playing:
            outcomes.attacks[attack.name][size] = _outcome(attack(at), at.own, truth, members)
    return outcomes


def _outcome(scores: Floats, own: int, truth: Codes, members: int) -> RightGuesses:
    guessed, sure = guesses(scores[own:])
    right = guessed == truth
    return RightGuesses(
        members=right[:members], fresh=right[members:], members_sure=sure[:members], fresh_sure=sure[members:]
    )


def _groups(
    outcomes: _Outcomes, fresh: People, known: Sequence[str], scoring: Scoring
) -> tuple[GroupRisk, ...]:
    """The gain in each group of fresh people, by the categories of columns; small groups are left out."""
    groups = {}
    for name in known if scoring.groups is None else scoring.groups:
        column = fresh.schema[name]
        if not isinstance(column, Categorical):
            require(scoring.groups is None, "groups", name, "a column of categories")
            continue
        codes = fresh.batch.codes(name)
        for code, label in enumerate(column.labels):
            inside = codes == code
            if SMALLEST_GROUP <= int(inside.sum()) < fresh.count:
                groups[f"{name}={label}"] = inside
    last = max(outcomes.imputer)
    headline = next(iter(outcomes.attacks))
    return group_risks(
        groups,
        outcomes.attacks[headline][last].fresh,
        outcomes.imputer[last].fresh,
        confidence=scoring.confidence,
    )

"""attribute_risk(): how much better a column is guessed by someone who has the release, and about whom.

Two worlds. In one the attacker has the release, in the other not; in both the same people of their own, the same
learner, and the same knowledge about everybody else. People are split into members and fresh people, so that what is
learnt about people in general can be told from what leaks about those in the data (soundness, section 27).
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
from holdfast.attack._attributes.people import People, Secret
from holdfast.attack._attributes.release_seen import ReleaseSeen, response_of
from holdfast.attack._catalogue import find_attacks, notes_about
from holdfast.attack._proof import Game, Proof, comparable_curve
from holdfast.attack._report import AttackReport
from holdfast.attack._rows.disclosure_result import DisclosureResult
from holdfast.attack._synthetic_disclosure import synthetic_disclosure
from holdfast.data._schema import Categorical, Schema
from holdfast.errors import ParameterError, require
from holdfast.privacy._adjacency import Adjacency

DRAWS = 8
"""How often unknown columns are drawn."""
SMALLEST_GROUP = 30


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
    proved: Proof | None = None,
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
    proved : Guarantee, PrivacyCurve or TradeOff, optional
        What is proved, by default the promise of the release.
    scoring : Scoring, optional
        How many people are guessed about, and what is made of the guesses.
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
    >>> def made_of(rows):                                           # a model as anyone would publish it
    ...     return lambda X: 2.0 * np.asarray(X["gene"]).astype(float) + np.asarray(X["age"]).astype(float)
    >>> report = attribute_risk(made_of(people), people, sensitive="gene", target="dose", train=made_of, random_state=0)
    >>> gene = report["gene"]
    >>> bool(gene.outcome("bayes").accuracy() > 0.75), gene.sizes, gene.audience
    (True, (50, 200, 500), 'internal')
    """
    if schema is not None:
        schema.confirmed()
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
        players = _coins(model, table, target, train, schema, scoring.people, random)
    else:
        players = _given(model, table, fresh, target, schema, scoring.people, random)
    curve, notes = comparable_curve(
        players.seen.guarantee if proved is None else proved, Adjacency.of(scoring.adjacency)
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
            game=players.coins,
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
    players: _Players, confidence: float, seed: Seed | None
) -> AttackReport[DisclosureResult] | None:
    """Of released rows: what they tell about whole people, members against fresh ones."""
    schema = players.seen.schema or players.members.schema
    if players.seen.rows is None or len(schema.names) < 2:
        return None
    names = list(schema.names)
    return synthetic_disclosure(
        players.seen.rows,
        members={name: players.members.raw[name] for name in names},
        control={name: players.fresh.raw[name] for name in names},
        schema=schema,
        confidence=confidence,
        random_state=seed or 0,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Players:
    """Who is who: the attacker's own people, members and fresh people to be guessed about, and the release."""

    seen: ReleaseSeen
    own: People
    members: People
    fresh: People
    target: str | None
    trained_on: int
    coins: Game
    left_out: int
    """How many people have no value of the target: no model learned from them."""


def _given(
    model: Any,
    table: Any,
    fresh: Any,
    target: str | None,
    schema: Schema | None,
    people: int,
    random: np.random.Generator,
) -> _Players:
    seen = ReleaseSeen.of(model, schema=schema)
    # A model's own schema lacks the column that it predicts.
    whole = seen.schema is not None and (target is None or target in seen.schema.names)
    inside = People.of(table, seen.schema if whole else schema)
    outside = People.of(fresh, inside.schema)
    predicted, given = _predicted_column(target, seen, inside), inside.count + outside.count
    if predicted is not None:
        inside, outside = inside.having(predicted), outside.having(predicted)
    # Two thirds of the fresh people serve the attacker, as long as they are no more than a third of all.
    own = min(2 * outside.count // 3, (inside.count + outside.count) // 3)
    order = random.permutation(outside.count)
    others = order[own : own + people]
    require(own >= 10 and others.size >= 10, "fresh", outside.count, "30 people or more")
    return _Players(
        seen=seen,
        own=outside.take(order[:own]),
        fresh=outside.take(others),
        members=inside.take(random.permutation(inside.count)[:people]),
        target=predicted,
        trained_on=inside.count,
        coins="given",
        left_out=given - inside.count - outside.count,
    )


def _coins(
    model: Any,
    table: Any,
    target: str | None,
    train: Any,
    schema: Schema | None,
    people: int,
    random: np.random.Generator,
) -> _Players:
    everybody = People.of(table, schema)
    given = everybody.count
    if target is not None and target in everybody.schema.names:
        everybody = everybody.having(target)
    require(everybody.count >= 30, "table", everybody.count, "30 people or more")
    third = everybody.count // 3
    own, inside, outside = (
        everybody.take(part) for part in np.split(random.permutation(everybody.count)[: 3 * third], 3)
    )
    seen = ReleaseSeen.of(_trained_model(model, train, inside, target), schema=schema)
    return _Players(
        seen=seen,
        own=own,
        members=inside.take(np.arange(min(people, third))),
        fresh=outside.take(np.arange(min(people, third))),
        target=_predicted_column(target, seen, everybody),
        trained_on=third,
        coins="flipped",
        left_out=given - everybody.count,
    )


def _trained_model(model: Any, train: Any, people: People, target: str | None) -> Any:
    """A model of these people, or rows."""
    names = list(people.schema.names)
    if train is not None:
        return train(people.model_input(names, {}))
    if not (hasattr(model, "fit") and hasattr(model, "get_params")):
        raise ParameterError(
            "fresh must be given with a model that cannot be fitted anew: other people of the same kind; or give "
            "train=, from a table to a model"
        )
    from sklearn.base import clone

    copy = clone(model)
    if hasattr(copy, "from_release") or hasattr(copy, "sample"):
        from holdfast.data._engines import open_table

        held = open_table(people.model_input(names, {}), people.schema)
        return copy.fit(held) if hasattr(copy, "sample") else copy.fit(held, target=target)
    if target is None:
        raise ParameterError("target must be given: the column that the model predicts")
    features = list(getattr(model, "feature_names_in_", ())) or [name for name in names if name != target]
    return copy.fit(people.model_input(features, {}), people.labels(target))


def _predicted_column(target: str | None, seen: ReleaseSeen, people: People) -> str | None:
    """The column that the model predicts: as named, or the one that it does not read."""
    names = people.schema.names
    if seen.target is None:
        return None
    if target is None:
        left = [name for name in names if seen.columns and name not in seen.columns]
        require(len(left) == 1, "target", target, "given: the column that the model predicts")
        target = left[0]
    require(target in names, "target", target, f"one of {', '.join(names)}")
    return target


def _secrets(sensitive: Any, players: _Players) -> list[tuple[str, ...]]:
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
    knows: Sequence[str] | None, columns: tuple[str, ...], players: _Players
) -> tuple[str, ...]:
    names = players.own.schema.names
    if knows is None:
        return tuple(name for name in names if name not in columns and name != players.target)
    strange = [name for name in knows if name not in names]
    require(not strange, "knows", strange, f"made of columns of the table: {', '.join(names)}")
    return tuple(name for name in knows if name not in columns and name != players.target)


def _sizes(sizes: Sequence[int], players: _Players) -> tuple[int, ...]:
    most = min(players.own.count, max(sizes))
    return tuple(sorted({*(size for size in sizes if size < most), most}))


def _case(
    players: _Players,
    secret: Secret,
    known: tuple[str, ...],
    chosen: tuple[Attack, ...],
    attacker: Attacker,
    random: np.random.Generator,
) -> tuple[AttributeCase, Codes]:
    """What the attacker has, and the truth about members and fresh people, which is no part of it."""
    people = players.own.join(players.members).join(players.fresh)
    codes = secret.codes(people)
    base: dict[str, Any] = {
        "kinds": secret.count,
        "own_values": codes[: players.own.count],
        "known": people.features(known),
        "learner": lambda: learner_of(attacker.learner),
    }
    if players.seen.target is None:
        rows = People.of(players.seen.rows, people.schema)
        values = secret.codes(rows)
        present = values >= 0
        base["rows"] = RowsSeen(known=rows.features(known)[present], codes=values[present])
        return AttributeCase(**base), codes[players.own.count :]
    assert players.target is not None
    own = players.own.count
    response = response_of(
        people,
        players.target,
        players.seen.target,
        known=attacker.response,
        error=attacker.response_error,
        own=own,
        random=random,
    )
    columns = players.seen.with_columns(people.schema.names, players.target)
    hidden = [name for name in columns if name not in known and name not in secret.columns]
    drawn = [_drawn_values(players.own, hidden, people.count, random) for _ in range(DRAWS if hidden else 1)]
    # A secret that the model does not read is asked about all the same: every candidate gets the same answer.
    looked = not hidden and any("weights" in attack.knows for attack in chosen)
    inside = (
        players.seen.inside(people, secret, columns, response, own=own, trained_on=players.trained_on)
        if looked
        else None
    )
    return (
        AttributeCase(
            **base,
            response=response,
            answers=players.seen.answers(people, secret, columns, drawn),
            inside=inside,
            labels_only=players.seen.target.labels_only
            or (response.codes is not None and attacker.response == "label"),
        ),
        codes[own:],
    )


def _drawn_values(
    own: People, hidden: Sequence[str], count: int, random: np.random.Generator
) -> Mapping[str, Any]:
    """Unknown columns of everybody, as they are together in somebody of the attacker's own."""
    taken = own.take(random.integers(0, own.count, size=count))
    return {name: taken.raw[name] for name in hidden}


@dataclass(frozen=True, kw_only=True, eq=False)
class _Outcomes:
    """Who is guessed right without the release and by each attack, for each number of own people."""

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
        outcomes.imputer[size] = _outcome(at.imputed, at.own, truth, members)
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
    """Groups of fresh people by the categories of columns; small ones say nothing."""
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

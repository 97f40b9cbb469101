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
from holdfast.attack._attributes import REGISTRY
from holdfast.attack._attributes.case import AttributeAttack, AttributeCase, Known, RowsSeen, guesses
from holdfast.attack._attributes.discriminant import learner_of
from holdfast.attack._attributes.outcome import RightGuesses, group_risks
from holdfast.attack._attributes.people import People, Secret
from holdfast.attack._attributes.release_seen import ReleaseSeen, response_of
from holdfast.attack._attributes.result import AttributeReport, AttributeRisk
from holdfast.attack._result import Game, Proof, find_attacks, proved_curve, words_about
from holdfast.attack._rows.disclosure import synthetic_disclosure
from holdfast.attack._rows.disclosure_result import DisclosureReport
from holdfast.data._schema import Categorical, Schema
from holdfast.errors import AdjacencyError, ParameterError, require
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._tradeoff import TradeOff

SIZES = (50, 200, 1_000, 10_000)
"""People of the attacker's own (soundness, section 27)."""
SUREST = 50
TARGETS = 2_000
DRAWS = 8
"""How often unknown columns are drawn."""
SMALLEST_GROUP = 30


@checked
def attribute_risk(
    model: Any,
    table: Any,
    *,
    sensitive: str | Sequence[str | Sequence[str]],
    knows: Sequence[str] | None = None,
    target: str | None = None,
    fresh: Any = None,
    train: Callable[[Any], Any] | None = None,
    response: Known = "exact",
    response_error: float | None = None,
    attacks: str | Sequence[str | AttributeAttack] = "all",
    sizes: Sequence[int] = SIZES,
    surest: int = SUREST,
    targets: int = TARGETS,
    groups: Sequence[str] | None = None,
    schema: Schema | None = None,
    proved: Proof | None = None,
    adjacency: Adjacency | str = Adjacency.replace,
    classes: Sequence[Any] | None = None,
    prepare: Callable[[Any], Any] | None = None,
    learner: Any = None,
    disclosure: bool = True,
    confidence: float = 0.95,
    random_state: Seed | None = None,
) -> AttributeReport:
    """How well a sensitive column is guessed with a model or released rows, and without.

    `model` is a fitted estimator, a callable (with `classes` if it gives probabilities), a release or its path; or
    released rows: a frame, a synthesiser, a synthetic release. `table` are the people it was made from, `fresh` other
    people of the same kind, of whom some become the attacker's own. Without `fresh` the table is cut in three at
    random, own people, members, fresh people, and an estimator (or `train`, from a table to a model or to rows) is
    fitted anew to the members: the game with coins.

    `sensitive` names a column, several, each in turn, or "all"; a tuple in the list is guessed as one. `knows` are the
    columns that the attacker knows, by default all others; the rest is drawn from own people.
    `target` is the column that the model predicts, known exactly, up to `response_error` ("approximate"), or only as a
    "label": the declared cell of a number, or a class of a model that shows decisions only.

    `sizes` are numbers of own people, up to a third of all; `surest` is how many of the surest guesses are looked at,
    `groups` the known columns by which people are grouped. `proved` is by default the promise of the release;
    `adjacency` says how members were chosen: "replace", or "add_remove" if each by a coin of their own.
    `prepare` makes of the columns what the model takes. `learner` is a scikit-learn classifier for both worlds.
    `disclosure` says whether released rows are also tried for singling out, linking and inferring.

    >>> random = np.random.default_rng(0)
    >>> people = {"gene": random.integers(0, 2, 1500), "age": random.integers(0, 5, 1500)}
    >>> people["dose"] = 2.0 * people["gene"] + people["age"] + random.normal(size=1500)
    >>> def made_of(rows):                                           # a model as anyone would publish it
    ...     return lambda X: 2.0 * np.asarray(X["gene"]).astype(float) + np.asarray(X["age"]).astype(float)
    >>> report = attribute_risk(made_of(people), people, sensitive="gene", target="dose", train=made_of, random_state=0)
    >>> risk = report["gene"]
    >>> bool(risk.outcome("bayes").accuracy() > 0.75), risk.sizes, risk.audience
    (True, (50, 200, 500), 'internal')
    """
    if schema is not None:
        schema.confirmed()
    require(0 < confidence < 1, "confidence", confidence, "in (0, 1)")
    require(surest >= 1 and targets >= 1, "surest", surest, ">= 1, as targets")
    random = np.random.default_rng(random_state)
    chosen = find_attacks(attacks, REGISTRY)
    game = _arranged(
        model,
        table,
        fresh,
        target,
        train=train,
        schema=schema,
        classes=classes,
        prepare=prepare,
        targets=targets,
        random=random,
    )
    proof = game.seen.guarantee if proved is None else proved
    curve, notes = _comparable(proof, Adjacency.of(adjacency))
    whose = words_about(chosen, REGISTRY)
    if game.left_out:
        notes["target"] = f"{game.left_out:,} people have no value of {game.target!r}, and are left out"
    whole_people = _disclosure(game, confidence, random_state) if disclosure else None
    made: list[AttributeRisk] = []
    for columns in _secrets(sensitive, game):
        start = time.perf_counter()
        secret = Secret.of(columns, game.own)
        known = _known(knows, columns, game)
        case, truth = _case(game, secret, known, chosen, response, response_error, learner, random)
        found = _outcomes(case, truth, game.members.count, _sizes(sizes, game), chosen)
        made.append(
            AttributeRisk(
                sensitive=secret.name,
                knows=known,
                kinds=secret.count,
                imputer=found.imputer,
                attacks=found.attacks,
                surest_k=min(surest, game.members.count, game.fresh.count),
                skipped=found.skipped,
                notes=notes | whose,
                groups=_groups(
                    found, game.fresh, known if groups is None else groups, groups is None, confidence
                ),
                game=game.coins,
                adjacency=Adjacency.of(adjacency),
                proved=curve,
                confidence=confidence,
                seconds=time.perf_counter() - start,
                seed=random_state,
                disclosure=None if made else whole_people,
            )
        )
    return AttributeReport(risks=tuple(made))


def _disclosure(game: _Arranged, confidence: float, seed: Seed | None) -> DisclosureReport | None:
    """Of released rows: what they tell about whole people, members against fresh ones."""
    schema = game.seen.schema or game.members.schema
    if game.seen.rows is None or len(schema.names) < 2:
        return None
    names = list(schema.names)
    return synthetic_disclosure(
        game.seen.rows,
        members={name: game.members.raw[name] for name in names},
        control={name: game.fresh.raw[name] for name in names},
        schema=schema,
        confidence=confidence,
        random_state=seed or 0,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Arranged:
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


def _arranged(
    model: Any,
    table: Any,
    fresh: Any,
    target: str | None,
    *,
    train: Any,
    schema: Schema | None,
    classes: Any,
    prepare: Any,
    targets: int,
    random: np.random.Generator,
) -> _Arranged:
    if fresh is None:
        return _coins(model, table, target, train, schema, classes, prepare, targets, random)
    seen = ReleaseSeen.of(model, schema=schema, classes=classes, prepare=prepare)
    # A model's own schema lacks the column that it predicts.
    whole = seen.schema is not None and (target is None or target in seen.schema.names)
    inside = People.of(table, seen.schema if whole else schema)
    outside = People.of(fresh, inside.schema)
    predicted, given = _predicted(target, seen, inside), inside.count + outside.count
    if predicted is not None:
        inside, outside = inside.having(predicted), outside.having(predicted)
    # Two thirds of the fresh people serve the attacker, as long as they are no more than a third of all.
    own = min(2 * outside.count // 3, (inside.count + outside.count) // 3)
    order = random.permutation(outside.count)
    others = order[own : own + targets]
    require(own >= 10 and others.size >= 10, "fresh", outside.count, "30 people or more")
    return _Arranged(
        seen=seen,
        own=outside.take(order[:own]),
        fresh=outside.take(others),
        members=inside.take(random.permutation(inside.count)[:targets]),
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
    classes: Any,
    prepare: Any,
    targets: int,
    random: np.random.Generator,
) -> _Arranged:
    everybody = People.of(table, schema)
    given = everybody.count
    if target is not None and target in everybody.schema.names:
        everybody = everybody.having(target)
    require(everybody.count >= 30, "table", everybody.count, "30 people or more")
    third = everybody.count // 3
    own, inside, outside = (
        everybody.take(part) for part in np.split(random.permutation(everybody.count)[: 3 * third], 3)
    )
    made = _trained(model, train, inside, target)
    seen = ReleaseSeen.of(made, schema=schema, classes=classes, prepare=prepare)
    return _Arranged(
        seen=seen,
        own=own,
        members=inside.take(np.arange(min(targets, third))),
        fresh=outside.take(np.arange(min(targets, third))),
        target=_predicted(target, seen, everybody),
        trained_on=third,
        coins="flipped",
        left_out=given - everybody.count,
    )


def _trained(model: Any, train: Any, people: People, target: str | None) -> Any:
    """A model of these people, or rows."""
    names = list(people.schema.names)
    if train is not None:
        return train(people.asked(names, {}))
    if not (hasattr(model, "fit") and hasattr(model, "get_params")):
        raise ParameterError(
            "fresh must be given with a model that cannot be fitted anew: other people of the same kind; or give "
            "train=, from a table to a model"
        )
    from sklearn.base import clone

    copy = clone(model)
    if hasattr(copy, "from_release") or hasattr(copy, "sample"):
        from holdfast.data._engines import open_table

        held = open_table(people.asked(names, {}), people.schema)
        return copy.fit(held) if hasattr(copy, "sample") else copy.fit(held, target=target)
    if target is None:
        raise ParameterError("target must be given: the column that the model predicts")
    features = list(getattr(model, "feature_names_in_", ())) or [name for name in names if name != target]
    return copy.fit(people.asked(features, {}), people.labels(target))


def _predicted(target: str | None, seen: ReleaseSeen, people: People) -> str | None:
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


def _comparable(proof: Proof | None, adjacency: Adjacency) -> tuple[TradeOff | None, dict[str, str]]:
    try:
        return (None if proof is None else proved_curve(proof, adjacency)), {}
    except AdjacencyError as error:
        return None, {"the promise": str(error)}


def _secrets(sensitive: Any, game: _Arranged) -> list[tuple[str, ...]]:
    if sensitive == "all":
        names: Sequence[Any] = [name for name in game.own.schema.names if name != game.target]
    else:
        names = [sensitive] if isinstance(sensitive, str) else list(sensitive)
    found = [(one,) if isinstance(one, str) else tuple(one) for one in names]
    require(len(found) >= 1, "sensitive", sensitive, "one column or more")
    require(
        game.target is None or all(game.target not in one for one in found),
        "sensitive",
        game.target,
        "a column that the model reads, not the one that it predicts",
    )
    return found


def _known(knows: Sequence[str] | None, columns: tuple[str, ...], game: _Arranged) -> tuple[str, ...]:
    names = game.own.schema.names
    if knows is None:
        return tuple(name for name in names if name not in columns and name != game.target)
    strange = [name for name in knows if name not in names]
    require(not strange, "knows", strange, f"made of columns of the table: {', '.join(names)}")
    return tuple(name for name in knows if name not in columns and name != game.target)


def _sizes(sizes: Sequence[int], game: _Arranged) -> tuple[int, ...]:
    require(len(sizes) >= 1 and min(sizes) >= 10, "sizes", tuple(sizes), "one number or more, each >= 10")
    most = min(game.own.count, max(sizes))
    return tuple(sorted({*(size for size in sizes if size < most), most}))


def _case(
    game: _Arranged,
    secret: Secret,
    known: tuple[str, ...],
    chosen: tuple[AttributeAttack, ...],
    response: Known,
    error: float | None,
    learner: Any,
    random: np.random.Generator,
) -> tuple[AttributeCase, Any]:
    """What the attacker has, and the truth about members and fresh people, which is no part of it."""
    people = game.own.join(game.members).join(game.fresh)
    codes = secret.codes(people)
    base: dict[str, Any] = {
        "kinds": secret.count,
        "own_values": codes[: game.own.count],
        "known": people.features(known),
        "learner": lambda: learner_of(learner),
    }
    if game.seen.target is None:
        rows = People.of(game.seen.rows, people.schema)
        values = secret.codes(rows)
        kept = values >= 0
        base["rows"] = RowsSeen(known=rows.features(known)[kept], codes=values[kept])
        return AttributeCase(**base), codes[game.own.count :]
    assert game.target is not None
    own = game.own.count
    said = response_of(
        people, game.target, game.seen.target, known=response, error=error, own=own, random=random
    )
    columns = game.seen.with_columns(people.schema.names, game.target)
    hidden = [name for name in columns if name not in known and name not in secret.columns]
    drawn = [_drawn(game.own, hidden, people.count, random) for _ in range(DRAWS if hidden else 1)]
    # A secret that the model does not read is asked about all the same: every candidate gets the same answer.
    looked = not hidden and any("weights" in one.needs for one in chosen)
    inside = (
        game.seen.inside(people, secret, columns, said, own=own, trained_on=game.trained_on)
        if looked
        else None
    )
    return (
        AttributeCase(
            **base,
            response=said,
            answers=game.seen.answers(people, secret, columns, drawn),
            inside=inside,
            labels_only=game.seen.target.labels_only or (said.codes is not None and response == "label"),
        ),
        codes[own:],
    )


def _drawn(own: People, hidden: Sequence[str], count: int, random: np.random.Generator) -> Mapping[str, Any]:
    """Unknown columns of everybody, as they are together in somebody of the attacker's own."""
    taken = own.take(random.integers(0, own.count, size=count))
    return {name: taken.raw[name] for name in hidden}


@dataclass(frozen=True, kw_only=True, eq=False)
class _Found:
    imputer: dict[int, RightGuesses]
    attacks: dict[str, dict[int, RightGuesses]]
    skipped: dict[str, str]


def _outcomes(
    case: AttributeCase, truth: Any, members: int, sizes: tuple[int, ...], chosen: tuple[AttributeAttack, ...]
) -> _Found:
    skipped = {one.name: why for one in chosen if (why := one.obstacle(case))}
    run = [one for one in chosen if one.name not in skipped]
    if not run:
        raise ParameterError(
            "no attack can be made: " + "; ".join(f"{a}: {why}" for a, why in skipped.items())
        )
    found = _Found(imputer={}, attacks={one.name: {} for one in run}, skipped=skipped)
    for size in sizes:
        at = case.at(size)
        found.imputer[size] = _outcome(at.imputed, at.own, truth, members)
        for one in run:
            found.attacks[one.name][size] = _outcome(one.scores(at), at.own, truth, members)
    return found


def _outcome(scores: Any, own: int, truth: Any, members: int) -> RightGuesses:
    guessed, sure = guesses(scores[own:])
    right = guessed == truth
    return RightGuesses(
        members=right[:members], fresh=right[members:], members_sure=sure[:members], fresh_sure=sure[members:]
    )


def _groups(found: _Found, fresh: People, columns: Sequence[str], any_kind: bool, confidence: float) -> Any:
    """Groups of fresh people by the categories of these columns; small ones say nothing."""
    made = {}
    for name in columns:
        column = fresh.schema[name]
        if not isinstance(column, Categorical):
            require(any_kind, "groups", name, "a column of categories")
            continue
        codes = fresh.batch.codes(name)
        for code, label in enumerate(column.labels):
            who = codes == code
            if SMALLEST_GROUP <= int(who.sum()) < fresh.count:
                made[f"{name}={label}"] = who
    last = max(found.imputer)
    first = next(iter(found.attacks))
    return group_risks(
        made, found.attacks[first][last].fresh, found.imputer[last].fresh, confidence=confidence
    )

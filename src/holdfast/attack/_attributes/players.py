"""Players: the release and the people of an attack on an attribute, and how tables are split into these people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.attack._attributes.people import People
from holdfast.attack._attributes.release_seen import ReleaseSeen
from holdfast.attack._proof import Game
from holdfast.data._schema import Schema
from holdfast.errors import ParameterError, require


@dataclass(frozen=True, kw_only=True, eq=False)
class Players:
    """The release, and three groups of people: the attacker's own, members, and fresh people who are no members."""

    release: ReleaseSeen
    own: People
    members: People
    fresh: People
    target: str | None
    trained_on: int
    membership: Game
    left_out: int
    """How many people have no value of the target: no model learned from them."""


def players_of_tables(
    model: Any,
    table: Any,
    fresh: Any,
    target: str | None,
    schema: Schema | None,
    people: int,
    random: np.random.Generator,
) -> Players:
    """The players where the owner has fresh people; up to two thirds of these become the attacker's own."""
    release = ReleaseSeen.of(model, schema=schema)
    # The schema of a model may lack the column that it predicts.
    is_complete = release.schema is not None and (target is None or target in release.schema.names)
    inside = People.of(table, release.schema if is_complete else schema)
    outside = People.of(fresh, inside.schema)
    predicted, total = _predicted_column(target, release, inside), inside.count + outside.count
    if predicted is not None:
        inside, outside = inside.with_value_of(predicted), outside.with_value_of(predicted)
    # Two thirds of the fresh people serve the attacker, as long as they are no more than a third of all.
    own = min(2 * outside.count // 3, (inside.count + outside.count) // 3)
    order = random.permutation(outside.count)
    fresh_rows = order[own : own + people]
    require(own >= 10 and fresh_rows.size >= 10, "fresh", outside.count, "30 people or more")
    return Players(
        release=release,
        own=outside.take(order[:own]),
        fresh=outside.take(fresh_rows),
        members=inside.take(random.permutation(inside.count)[:people]),
        target=predicted,
        trained_on=inside.count,
        membership="given",
        left_out=total - inside.count - outside.count,
    )


def players_by_coins(
    model: Any,
    table: Any,
    target: str | None,
    train: Any,
    schema: Schema | None,
    people: int,
    random: np.random.Generator,
) -> Players:
    """The players where coins decide: the table is cut in three at random, and the model trained on the members."""
    everybody = People.of(table, schema)
    total = everybody.count
    if target is not None and target in everybody.schema.names:
        everybody = everybody.with_value_of(target)
    require(everybody.count >= 30, "table", everybody.count, "30 people or more")
    third = everybody.count // 3
    own, inside, outside = (
        everybody.take(part) for part in np.split(random.permutation(everybody.count)[: 3 * third], 3)
    )
    release = ReleaseSeen.of(_trained_model(model, train, inside, target), schema=schema)
    return Players(
        release=release,
        own=own,
        members=inside.take(np.arange(min(people, third))),
        fresh=outside.take(np.arange(min(people, third))),
        target=_predicted_column(target, release, everybody),
        trained_on=third,
        membership="flipped",
        left_out=total - everybody.count,
    )


def _trained_model(model: Any, train: Any, people: People, target: str | None) -> Any:
    """What `train` makes of these people, a model or rows; without it a copy of the model, fitted to them."""
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

        training_table = open_table(people.model_input(names, {}), people.schema)
        return (
            copy.fit(training_table) if hasattr(copy, "sample") else copy.fit(training_table, target=target)
        )
    if target is None:
        raise ParameterError("target must be given: the column that the model predicts")
    if hasattr(model, "feature_names_in_"):
        features = list(model.feature_names_in_)
    else:
        features = [name for name in names if name != target]
    return copy.fit(people.model_input(features, {}), people.labels(target))


def _predicted_column(target: str | None, release: ReleaseSeen, people: People) -> str | None:
    """The column that the model predicts: as named, or the one that it does not read."""
    names = people.schema.names
    if release.target is None:
        return None
    if target is None:
        unread = [name for name in names if release.columns and name not in release.columns]
        require(len(unread) == 1, "target", target, "given: the column that the model predicts")
        target = unread[0]
    require(target in names, "target", target, f"one of {', '.join(names)}")
    return target

"""ReleaseSeen: the release under attack, a model or rows; what a model answers, and what is known of the response."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast.attack._attributes.attribute_case import Known, Response
from holdfast.attack._attributes.linear_inside import LinearInside, inside_of
from holdfast.attack._attributes.people import People
from holdfast.attack._attributes.secret import Secret
from holdfast.attack._models.answers import answers_as_numbers, require_number_answers
from holdfast.attack._models.fitted import columns_read, schema_of
from holdfast.attack._models.target import Target
from holdfast.attack._records import LEAVE_OUT_ADVICE, Records
from holdfast.attack._rows.released_rows import opened_rows
from holdfast.data._schema import Numeric, Schema
from holdfast.errors import FormatError, ParameterError, require
from holdfast.privacy._guarantee import Guarantee

PEOPLE_AT_ONCE = 4_096
"""How many people a model is asked about at once: few enough that its intermediate results stay in the cache."""
LARGEST_DESIGN_MATRIX = 8_000_000
"""The most entries of the features of all people under all candidates; attacks on weights are left out beyond it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleaseSeen:
    """The release as an attacker has it: a model (`target`) and the columns that it reads, or released `rows`."""

    target: Target | None = None
    columns: tuple[str, ...] = ()
    rows: Any = None
    schema: Schema | None = None
    guarantee: Guarantee | None = None
    cache: dict[Any, Any] = field(default_factory=dict)
    """Results that do not depend on the sensitive column: features of the attacker's own people, and fits to them."""

    @classmethod
    def of(cls, model: Any, *, schema: Schema | None) -> ReleaseSeen:
        """The release of an estimator, callable, target, synthesiser, release, path, or table of rows."""
        if isinstance(model, str | os.PathLike):
            from holdfast.release import Release

            model = Release.load(Path(model))
        if hasattr(model, "sample") and hasattr(model, "release_") and model.release_ is not None:
            model = model.release_
        tabular = any(hasattr(model, name) for name in ("iloc", "column_names")) or isinstance(model, Mapping)
        if tabular or _holds_rows(model):
            rows, rows_schema, guarantee = opened_rows(model, schema)
            return cls(rows=rows, schema=rows_schema, guarantee=guarantee)
        target = Target.of(model)
        return cls(
            target=target,
            columns=columns_read(target.model),
            schema=schema or schema_of(target.model),
            guarantee=target.guarantee,
        )

    def with_columns(self, names: Sequence[str], target: str) -> tuple[str, ...]:
        """The columns that the model reads: as it says itself, or all `names` but the `target`."""
        chosen = self.columns or tuple(name for name in names if name != target)
        missing = [name for name in chosen if name not in names]
        require(not missing, "table", missing, "made of all columns that the model reads")
        return chosen

    def answers(
        self,
        people: People,
        secret: Secret,
        columns: Sequence[str],
        unknown_draws: Sequence[Mapping[str, Any]],
    ) -> Floats:
        """The model's answers about everybody under each candidate, for each draw of the unknown columns."""
        answers = []
        for unknown in unknown_draws or ({},):
            blocks = [
                (people.take(rows), {name: people.pick(values, rows) for name, values in unknown.items()})
                for rows in np.split(
                    np.arange(people.count), range(PEOPLE_AT_ONCE, people.count, PEOPLE_AT_ONCE)
                )
            ]
            answers.append(
                np.stack([self._answers_about_all(blocks, columns, value) for value in secret.values], axis=1)
            )
        return np.stack(answers)

    def _answers_about_all(
        self, blocks: Sequence[Any], columns: Sequence[str], value: Mapping[str, Any]
    ) -> Floats:
        return np.concatenate(
            [self._answers_of(block.model_input(columns, {**unknown, **value})) for block, unknown in blocks]
        )

    def _answers_of(self, features: Any) -> Floats:
        assert self.target is not None
        if self.target.task == "classification":
            count = int(features.shape[0])
            return self.target.probabilities(Records(features=features, labels=np.zeros(count)))
        values = answers_as_numbers(self.target.outputs(features))
        require_number_answers(values)
        return values

    def inside(
        self,
        people: People,
        secret: Secret,
        columns: Sequence[str],
        response: Response,
        *,
        own: int,
        trained_on: int,
    ) -> LinearInside | None:
        """Weights and features under each candidate; None where the model is not linear, or there are too many."""
        assert self.target is not None
        inside = inside_of(self.target.model, trained_on=trained_on, classes=len(self.target.classes))
        if (
            inside is None
            or inside["weights"].size * (people.count - own) * secret.count > LARGEST_DESIGN_MATRIX
        ):
            return None
        if "own" not in self.cache:
            self.cache["own"] = self._design(people.take(np.arange(own)), columns, {})
        own_design = self.cache["own"]
        if own_design.shape[1] != inside["weights"].size:
            return None
        judged = people.take(np.arange(own, people.count))
        designs = [self._design(judged, columns, value) for value in secret.values]
        labels = response.numbers if response.codes is None else response.codes.astype(np.float64)
        assert labels is not None
        return LinearInside(
            own_design=own_design,
            designs=np.stack(designs),
            labels=labels,
            fits=self.cache.setdefault("fits", {}),
            **inside,
        )

    def _design(self, people: People, columns: Sequence[str], changed: Mapping[str, Any]) -> Floats:
        """The features of people as a linear model computes them, with a constant column."""
        assert self.target is not None
        records = Records(features=people.model_input(columns, changed), labels=np.zeros(people.count))
        return np.column_stack([self.target.matrix(records), np.ones(people.count)])


def _holds_rows(model: Any) -> bool:
    """Whether a model is a release that holds synthetic rows."""
    if not (hasattr(model, "provenance") and hasattr(model, "guarantee")):
        return False
    from holdfast.synth._contents import SyntheticContents

    try:
        SyntheticContents.of_value(model.value)
    except FormatError:
        return False
    return True


def response_of(
    people: People,
    name: str,
    target: Target,
    *,
    known: Known,
    error: float | None,
    own: int,
    random: np.random.Generator,
) -> Response:
    """What the attacker knows of everybody's response, the column `name`; the first `own` people are the attacker's."""
    require(
        known in ("exact", "approximate", "label"), "response", known, "'exact', 'approximate' or 'label'"
    )
    require(not people.lacks(name), "target", name, "a column without missing values (NaN)", LEAVE_OUT_ADVICE)
    if target.task == "classification":
        require(known != "approximate", "response", known, "'exact' or 'label' for classes")
        labels = people.labels(name)
        if all(isinstance(label, str) for label in target.classes):
            labels = labels.astype(str)
        codes = target.label_columns(Records(features=np.zeros((people.count, 1)), labels=labels)).astype(
            np.int64
        )
        return Response(known=known, block=np.eye(len(target.classes))[codes], codes=codes)
    column = people.schema[name]
    if not isinstance(column, Numeric):
        raise ParameterError(
            f"target must be a column of numbers for a regression, got target={name!r}; or name its classes="
        )
    numbers = np.asarray(people.batch.values[name], dtype=np.float64)
    if known == "label":
        cells = np.searchsorted(np.asarray(column.edges[1:-1]), numbers, side="right")
        edges = np.array([-np.inf, *column.edges[1:-1], np.inf])
        block = np.eye(len(column.edges) - 1)[cells]
        return Response(known=known, block=block, numbers=numbers, low=edges[cells], high=edges[cells + 1])
    if known == "approximate":
        error_std = 0.25 * float(np.std(numbers[:own])) if error is None else error
        require(error_std > 0, "response_error", error_std, "> 0")
        # The attacker's own people are blurred too, so that what is learned from them fits the others.
        numbers = numbers + error_std * random.normal(size=numbers.size)
    spread = float(np.std(numbers[:own])) or 1.0
    block = ((numbers - numbers[:own].mean()) / spread)[:, None]
    return Response(known=known, block=block, numbers=numbers)

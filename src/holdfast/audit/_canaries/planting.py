"""How canaries enter the data: two possible records in each slot, and a secret coin that picks one.

What the two are is the adjacency of the claim. `add_remove`: the canary or nothing. `zero_out`: the canary or
a null record. `replace`: the canary or its opposite (the direction reversed, the label flipped). The audit
then speaks about exactly the neighbours that the claim speaks about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast._arrays import Floats
from holdfast.audit._canaries import Canaries, LabelledCanaries
from holdfast.audit._canaries.decoder import inner_product
from holdfast.errors import ParameterError, require
from holdfast.privacy._adjacency import Adjacency

Score = Callable[[Any], Any]
"""From what training returned to one number per canary, larger where it looks planted."""


class Planting(Protocol):
    """Data with slots for canaries."""

    @property
    def count(self) -> int:
        """The number of slots."""

    def data(self, coins: NDArray[np.bool_]) -> Any:
        """The data to train on, in the form that `train` takes."""

    def scores(self, output: Any) -> Floats:
        """One number per canary from what training returned."""

    def summary(self) -> str:
        """What was planted; public."""


@dataclass(frozen=True, kw_only=True)
class PlantedRows:
    """Rows of numbers; what is released is a vector that planted rows pull towards themselves."""

    rows: Floats
    canaries: Canaries
    adjacency: Adjacency

    def __post_init__(self) -> None:
        width = self.rows.shape[1]
        require(
            self.canaries.dimension == width,
            "canaries.dimension",
            self.canaries.dimension,
            f"the {width} columns",
        )

    @property
    def count(self) -> int:
        """One slot per canary."""
        return self.canaries.count

    def data(self, coins: NDArray[np.bool_]) -> Floats:
        """The rows, then the slots."""
        if self.adjacency is Adjacency.add_remove:
            return np.vstack([self.rows, self.canaries.rows(np.flatnonzero(coins))])
        absent = -1.0 if self.adjacency is Adjacency.replace else 0.0
        signs = np.where(coins, 1.0, absent)
        return np.vstack([self.rows, signs[:, None] * self.canaries.rows(np.arange(self.count))])

    def scores(self, output: Any) -> Floats:
        """The inner product of each canary with the released vector (Steinke et al. 2023)."""
        vector = np.ravel(np.asarray(output, float))
        if vector.size != self.canaries.dimension:
            raise ParameterError(
                f"train returned {vector.size} numbers for {self.canaries.dimension} columns; "
                "give score=, a function from what train returns to one number per canary"
            )
        return inner_product(self.canaries, vector)

    def summary(self) -> str:
        """What was planted; public."""
        return f"{self.count} rows of norm {self.canaries.row_norm:g} in {self.canaries.dimension} dimensions"


@dataclass(frozen=True, kw_only=True)
class PlantedRecords:
    """Labelled records (X, y) of two classes; what is released is a model."""

    features: Floats
    labels: NDArray[Any]
    canaries: LabelledCanaries
    adjacency: Adjacency
    classes: Sequence[Any]
    null: tuple[Any, Any] | None = None

    def __post_init__(self) -> None:
        width = self.features.shape[1]
        require(
            self.canaries.dimension == width,
            "canaries.dimension",
            self.canaries.dimension,
            f"the {width} columns",
        )
        require(
            len(self.classes) == 2, "classes", len(self.classes), "two (give canaries= and score= for more)"
        )
        if self.adjacency is Adjacency.zero_out:
            require(
                self.null is not None,
                "null",
                None,
                "a record (x, y) that the method counts as absent",
                "audit the same method under 'add_remove' or 'replace', or say what its null record is",
            )

    @property
    def count(self) -> int:
        """One slot per canary."""
        return self.canaries.count

    def data(self, coins: NDArray[np.bool_]) -> tuple[Floats, NDArray[Any]]:
        """The records, then the slots."""
        features, signs = self.canaries.records(np.arange(self.count))
        if self.adjacency is Adjacency.add_remove:
            features, signs = features[coins], signs[coins]
        elif self.adjacency is Adjacency.replace:
            signs = np.where(coins, signs, -signs)
        names = np.asarray(self.classes)[(signs > 0).astype(int)]
        if self.adjacency is Adjacency.zero_out and self.null is not None:
            features = np.where(coins[:, None], features, np.asarray(self.null[0], float))
            names = np.where(coins, names, np.asarray(self.null[1]).astype(names.dtype))
        return np.vstack([self.features, features]), np.concatenate(
            [self.labels, names.astype(self.labels.dtype)]
        )

    def scores(self, output: Any) -> Floats:
        """The margin of each canary's own label, by the model's coefficients or else by its probabilities."""
        if isinstance(output, np.ndarray):
            weights: Any = output
        else:
            weights = output.coef_ if hasattr(output, "coef_") else None
        if weights is not None and np.size(weights) == self.canaries.dimension:
            return self.canaries.project(np.ravel(np.asarray(weights, float)))
        if not hasattr(output, "predict_proba"):
            raise ParameterError("train returned neither weights, coef_ nor predict_proba; give score=")
        features, signs = self.canaries.records(np.arange(self.count))
        places = {name: place for place, name in enumerate(np.asarray(output.classes_).tolist())}
        negative, positive = (places[name] for name in np.asarray(self.classes).tolist())
        own = np.where(signs > 0, positive, negative)
        probabilities = np.clip(np.asarray(output.predict_proba(features), float), 1e-12, 1.0)
        return np.asarray(np.log(probabilities[np.arange(self.count), own]))

    def summary(self) -> str:
        """What was planted; public."""
        return (
            f"{self.count} labelled records of norm {self.canaries.row_norm:g} "
            f"in {self.canaries.dimension} dimensions, each with a public random label"
        )


@dataclass(frozen=True, kw_only=True)
class WithScore:
    """A planting, judged by the auditor's own score."""

    planting: Planting
    score: Score

    @property
    def count(self) -> int:
        """One slot per canary."""
        return self.planting.count

    def data(self, coins: NDArray[np.bool_]) -> Any:
        """The data of the planting."""
        return self.planting.data(coins)

    def scores(self, output: Any) -> Floats:
        """The auditor's own score of each canary, from the output of the training alone."""
        values = np.asarray(self.score(output), float)
        require(
            values.shape == (self.count,),
            "score",
            values.shape,
            f"a function that gives {self.count} numbers",
        )
        return values

    def summary(self) -> str:
        """What was planted; public."""
        return f"{self.planting.summary()}, own score"

"""Canaries for supervised learning: directions with the labels that change the model most.

For a linear model and a loss of the margin y <w, x> the gradient of one record is a negative multiple of
y x, its length at most L |x|, reached where the margin is very negative. So a record of the full norm with
the label that a public reference model finds least likely has the largest gradient a record can have, and
its direction is chosen freely. An included canary pulls the model towards y x: its `effect`, which is what
a decoder looks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast._arrays import Floats
from holdfast.audit._canaries.design import (
    ROWS_AT_ONCE,
    Block,
    Canaries,
    as_indices,
    as_vector,
    in_blocks,
    random_words,
    stream_key,
)
from holdfast.errors import require

LABELS_STREAM, WRONG_LABELS_STREAM = 0x4C41424C, 0x57524F4E
"""The purposes that keep the two streams of random words apart."""


@dataclass(frozen=True, kw_only=True)
class LabelledCanaries:
    """Records (x_i, y_i) with x_i from a design and y_i in {-1, +1}; as directions, y_i x_i.

    >>> from holdfast.audit._canaries.orthogonal import DiracCanaries
    >>> features = DiracCanaries(count=2, dimension=3)
    >>> canaries = LabelledCanaries(features=features, labels=np.array([1.0, -1.0]))
    >>> canaries.records([1])[1].tolist(), canaries.rows([1]).tolist()
    ([-1.0], [[-0.0, -1.0, -0.0]])
    """

    features: Canaries
    labels: Floats

    def __post_init__(self) -> None:
        labels = as_vector(self.labels, self.features.count, "labels").copy()
        require(bool(np.all(np.abs(labels) == 1.0)), "labels", "...", "-1 or +1")
        labels.flags.writeable = False
        object.__setattr__(self, "labels", labels)

    @property
    def count(self) -> int:
        """The number of records."""
        return self.features.count

    @property
    def dimension(self) -> int:
        """The number of features."""
        return self.features.dimension

    @property
    def row_norm(self) -> float:
        """A label does not change a length."""
        return self.features.row_norm

    @cached_property
    def public(self) -> Mapping[str, int | float | str]:
        """The design of the features, and the labels as packed bits."""
        return {**self.features.public, "labels": np.packbits(self.labels > 0).tobytes().hex()}

    def records(self, indices: ArrayLike) -> tuple[Floats, Floats]:
        """Features and labels of some canaries: what is added to the training data."""
        chosen = as_indices(indices, self.count)
        return self.features.rows(chosen), self.labels[chosen].copy()

    def rows(self, indices: ArrayLike) -> Floats:
        """The effects y x of some canaries."""
        features, labels = self.records(indices)
        return features * labels[:, None]

    def blocks(self, rows: int = ROWS_AT_ONCE) -> Iterator[Block]:
        """All effects in order, a few rows at a time."""
        return in_blocks(self, rows)

    def project(self, direction: ArrayLike) -> Floats:
        """The m inner products of the effects with a vector: the margins under that model."""
        return self.labels * self.features.project(direction)

    def combine(self, weights: ArrayLike) -> Floats:
        """The weighted sum of the effects."""
        return self.features.combine(self.labels * as_vector(weights, self.count, "weights"))


def random_labels(count: int, *, seed: int) -> Floats:
    """Labels from public bits, -1 or +1.

    >>> random_labels(1000, seed=1).shape
    (1000,)
    """
    require(count >= 1, "count", count, ">= 1")
    return np.where(random_words(stream_key(seed, LABELS_STREAM), 0, count) >> np.uint64(63), 1.0, -1.0)


def worst_case_gradient(features: Canaries, *, reference: ArrayLike, seed: int) -> LabelledCanaries:
    """Give each direction the label that a public reference model finds least likely.

    At the reference (a public start, or a model of public data) each record then has the largest gradient
    among all records with this direction: at least half of L |x| for the logistic loss, and the more the
    model disagrees the closer to L |x|. Where it has no opinion, as at w = 0, the label is random.

    >>> from holdfast.audit._canaries.orthogonal import DiracCanaries
    >>> canaries = worst_case_gradient(DiracCanaries(count=2, dimension=2), reference=[3.0, -1.0], seed=1)
    >>> canaries.labels.tolist(), canaries.project([3.0, -1.0]).tolist()
    ([-1.0, 1.0], [-3.0, -1.0])
    """
    margin = features.project(reference)
    labels = np.where(margin == 0, random_labels(features.count, seed=seed), -np.sign(margin))
    return LabelledCanaries(features=features, labels=labels)


def mislabelled_classes(
    labels: Sequence[object], *, classes: Sequence[object], seed: int
) -> NDArray[np.object_]:
    """For each public record another label than its own, uniformly among the other classes.

    The records and their right labels must be public (held-out or made up): canaries are printed.

    >>> mislabelled_classes(["cat", "dog", "cat"], classes=["cat", "dog"], seed=1).tolist()
    ['dog', 'cat', 'dog']
    """
    names = list(classes)
    require(len(names) >= 2 and len(set(names)) == len(names), "classes", names, "two or more, all different")
    unknown = sum(label not in names for label in labels)
    require(unknown == 0, "labels", f"{unknown} unknown", f"among classes={names}")
    own = np.array([names.index(label) for label in labels], np.int64)
    draws = random_words(stream_key(seed, WRONG_LABELS_STREAM), 0, len(own)) % np.uint64(len(names) - 1)
    other = (own + 1 + draws.astype(np.int64)) % len(names)
    wrong_labels = np.empty(len(own), object)
    wrong_labels[:] = [names[code] for code in other]
    return wrong_labels

"""Discriminant: the one learner of imputer and attacks, so that a gain is the release's and not the learner's.

Linear discriminant analysis with a shrunk covariance: closed form, so that fourteen columns of Adult at four sizes are
seconds. How much to shrink and how sure to be are chosen by the logarithmic loss on people left out, by the same rule
for every guesser.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import require

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
SHRINKS = (0.02, 0.2, 0.8)
SHARPNESS = (0.25, 0.5, 1.0)
FOLDS = 5
ONE_FOLD_FROM = 2_000
"""From so many people on, one fifth left out says enough."""


class GuessingLearner(Protocol):
    """Learns to guess codes from features; `log_posterior` has one column per code from 0 to kinds - 1."""

    def fit(self, features: Floats, codes: Codes, kinds: int) -> GuessingLearner:
        """Learn from people whose codes are known."""

    def log_posterior(self, features: Floats) -> Floats:
        """Logarithms of probabilities, one line per person."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Line:
    """Scores slope . x + offset plus the log of the prior."""

    slope: Floats
    offset: Floats
    prior: Floats

    def log_posterior(self, features: Floats, sharpness: float) -> Floats:
        scores = sharpness * (features @ self.slope + self.offset) + self.prior
        return np.asarray(scores - np.logaddexp.reduce(scores, axis=1)[:, None])


class Discriminant:
    """The default learner.

    >>> random = np.random.default_rng(0)
    >>> codes = random.integers(0, 2, size=400)
    >>> features = codes[:, None] + 0.5 * random.normal(size=(400, 3))
    >>> made = Discriminant().fit(features, codes, 2)
    >>> bool(np.mean(made.log_posterior(features).argmax(axis=1) == codes) > 0.9)
    True
    """

    def fit(self, features: Floats, codes: Codes, kinds: int) -> Discriminant:
        """Learn; the last fifths are left out in turn to choose."""
        require(len(features) == len(codes) >= 1, "own", len(codes), "one person or more")
        folds = np.arange(len(codes)) % FOLDS
        turns = range(1) if len(codes) >= ONE_FOLD_FROM else range(FOLDS)
        losses = np.zeros((len(SHRINKS), len(SHARPNESS)))
        for turn in turns if len(codes) >= 2 * FOLDS else ():
            left = folds == turn
            lines = _lines(features[~left], codes[~left], kinds, SHRINKS)
            rows = np.flatnonzero(left)
            for i, line in enumerate(lines):
                for j, sharpness in enumerate(SHARPNESS):
                    found = line.log_posterior(features[rows], sharpness)
                    losses[i, j] -= found[np.arange(rows.size), codes[rows]].sum()
        best, sharp = divmod(int(losses.argmin()), len(SHARPNESS))
        self.line_, self.sharpness_ = _lines(features, codes, kinds, (SHRINKS[best],))[0], SHARPNESS[sharp]
        return self

    def log_posterior(self, features: Floats) -> Floats:
        """Logarithms of probabilities."""
        return self.line_.log_posterior(features, self.sharpness_)


def _lines(features: Floats, codes: Codes, kinds: int, shrinks: tuple[float, ...]) -> list[_Line]:
    counts = np.bincount(codes, minlength=kinds).astype(np.float64)
    prior = np.log((counts + 0.5) / (counts.sum() + 0.5 * kinds))
    centre = features.mean(axis=0)
    sums = np.zeros((kinds, features.shape[1]))
    np.add.at(sums, codes, features - centre)
    # A mean of few people is drawn towards the mean of all, as if one more had been there.
    means = sums / (counts + 1.0)[:, None]
    inner = features - centre - means[codes]
    covariance = inner.T @ inner / max(1, len(codes) - 1)
    spread = np.diag(covariance) + 1e-9
    lines = []
    for shrink in shrinks:
        slope = np.linalg.solve((1.0 - shrink) * covariance + shrink * np.diag(spread), means.T)
        offset = -0.5 * np.einsum("kd,dk->k", means, slope) - centre @ slope
        lines.append(_Line(slope=slope, offset=offset, prior=prior))
    return lines


class WrappedClassifier:
    """A classifier of scikit-learn as a learner; codes that it has not seen get a small probability."""

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, features: Floats, codes: Codes, kinds: int) -> WrappedClassifier:
        """Learn, with a fresh copy of the classifier."""
        from sklearn.base import clone

        self.kinds_, self.one_ = kinds, int(codes[0])
        self.made_ = None if np.all(codes == codes[0]) else clone(self.classifier).fit(features, codes)
        return self

    def log_posterior(self, features: Floats) -> Floats:
        """Logarithms of probabilities."""
        wide = np.full((len(features), self.kinds_), 1e-6)
        if self.made_ is None:
            wide[:, self.one_] = 1.0
        else:
            wide[:, np.asarray(self.made_.classes_, dtype=np.int64)] += self.made_.predict_proba(features)
        return np.asarray(np.log(wide / wide.sum(axis=1, keepdims=True)))


def learner_of(given: Any) -> GuessingLearner:
    """The default, or a classifier of scikit-learn."""
    if given is None:
        return Discriminant()
    require(
        hasattr(given, "fit") and hasattr(given, "predict_proba"), "learner", type(given).__name__,
        "None or a scikit-learn classifier with predict_proba",
    )  # fmt: skip
    return WrappedClassifier(given)

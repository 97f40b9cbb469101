"""Discriminant: the learner that imputer and attacks share, so that a gain comes from the release and not the learner.

It is linear discriminant analysis with a shrunk covariance, which has a closed form: fourteen columns of Adult at four
sizes take seconds. Cross-validation by the logarithmic loss chooses how much to shrink, and by what factor to multiply
the log-odds (`SHARPNESS`), by the same rule for every guesser.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from holdfast._arrays import Codes, Floats
from holdfast.errors import require

SHRINKS = (0.02, 0.2, 0.8)
SHARPNESS = (0.25, 0.5, 1.0)
FOLDS = 5
ONE_FOLD_FROM = 2_000
"""With at least this many people a single fold is enough."""


class GuessingLearner(Protocol):
    """Learns to guess codes from features; `log_posterior` has one column per code from 0 to kinds - 1."""

    def fit(self, features: Floats, codes: Codes, kinds: int) -> GuessingLearner:
        """Learn from people whose codes are known."""

    def log_posterior(self, features: Floats) -> Floats:
        """Logarithms of probabilities, one line per person."""


def log_share(scores: Floats) -> Floats:
    """Logarithms of each line's shares of exp(scores).

    >>> np.exp(log_share(np.log([[1.0, 3.0]]))).round(3).tolist()
    [[0.25, 0.75]]
    """
    above = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(above - np.log(np.exp(above).sum(axis=1, keepdims=True)))


@dataclass(frozen=True, kw_only=True, eq=False)
class _LinearScores:
    """Scores slope . x + offset plus the log of the prior."""

    slope: Floats
    offset: Floats
    prior: Floats

    def evidence(self, features: Floats) -> Floats:
        """What the features say, before the prior."""
        return features @ self.slope + self.offset

    def log_posterior(self, evidence: Floats, sharpness: float) -> Floats:
        return log_share(sharpness * evidence + self.prior)


class Discriminant:
    """The default learner.

    >>> random = np.random.default_rng(0)
    >>> codes = random.integers(0, 2, size=400)
    >>> features = codes[:, None] + 0.5 * random.normal(size=(400, 3))
    >>> learner = Discriminant().fit(features, codes, 2)
    >>> bool(np.mean(learner.log_posterior(features).argmax(axis=1) == codes) > 0.9)
    True
    """

    def fit(self, features: Floats, codes: Codes, kinds: int) -> Discriminant:
        """Fit to people whose codes are known; shrinkage and sharpness are chosen by cross-validation."""
        require(len(features) == len(codes) >= 1, "own", len(codes), "one person or more")
        folds = np.arange(len(codes)) % FOLDS
        turns = range(1) if len(codes) >= ONE_FOLD_FROM else range(FOLDS)
        losses = np.zeros((len(SHRINKS), len(SHARPNESS)))
        moments = _Moments.of(features, codes, kinds)
        for turn in turns if len(codes) >= 2 * FOLDS else ():
            rows = np.flatnonzero(folds == turn)
            held_out, truth = features[rows], codes[rows]
            remaining = moments.without(_Moments.of(held_out, truth, kinds, centre=moments.centre))
            for i, scores in enumerate(remaining.linear_scores(SHRINKS)):
                evidence = scores.evidence(held_out)
                for j, sharpness in enumerate(SHARPNESS):
                    losses[i, j] -= scores.log_posterior(evidence, sharpness)[
                        np.arange(rows.size), truth
                    ].sum()
        shrink_place, sharpness_place = divmod(int(losses.argmin()), len(SHARPNESS))
        self.scores_ = moments.linear_scores((SHRINKS[shrink_place],))[0]
        self.sharpness_ = SHARPNESS[sharpness_place]
        return self

    def log_posterior(self, features: Floats) -> Floats:
        """Logarithms of probabilities."""
        return self.scores_.log_posterior(self.scores_.evidence(features), self.sharpness_)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Moments:
    """Counts, sums and sums of products about a centre; those of a part can be subtracted from those of the whole."""

    centre: Floats
    counts: Floats
    sums: Floats
    products: Floats

    @classmethod
    def of(cls, features: Floats, codes: Codes, kinds: int, *, centre: Floats | None = None) -> _Moments:
        centre = features.mean(axis=0) if centre is None else centre
        centred = features - centre
        indicators = np.zeros((kinds, len(codes)))
        indicators[codes, np.arange(len(codes))] = 1.0
        return cls(
            centre=centre,
            counts=indicators.sum(axis=1),
            sums=indicators @ centred,
            products=centred.T @ centred,
        )

    def without(self, part: _Moments) -> _Moments:
        return _Moments(
            centre=self.centre,
            counts=self.counts - part.counts,
            sums=self.sums - part.sums,
            products=self.products - part.products,
        )

    def linear_scores(self, shrinks: tuple[float, ...]) -> list[_LinearScores]:
        """The linear scores of a discriminant for each of the `shrinks`, the share of the covariance made diagonal."""
        people, kinds = float(self.counts.sum()), len(self.counts)
        prior = np.log((self.counts + 0.5) / (people + 0.5 * kinds))
        mean_offset = self.sums.sum(axis=0) / people
        sums = self.sums - self.counts[:, None] * mean_offset
        # The mean of a group is shrunk towards the mean of all people, as if it had one more person there.
        means = sums / (self.counts + 1.0)[:, None]
        # Products about these means: sum (x - m)(x - m)' = sum xx' - S'm - m'S + m' diag(counts) m.
        crossed = sums.T @ means
        around = self.products - people * np.outer(mean_offset, mean_offset)
        inner = around - crossed - crossed.T + means.T @ (self.counts[:, None] * means)
        covariance = inner / max(1.0, people - 1.0)
        spread = np.maximum(np.diag(covariance), 0.0) + 1e-9
        centre, lines = self.centre + mean_offset, []
        for shrink in shrinks:
            slope = np.linalg.solve((1.0 - shrink) * covariance + shrink * np.diag(spread), means.T)
            offset = -0.5 * np.einsum("kd,dk->k", means, slope) - centre @ slope
            lines.append(_LinearScores(slope=slope, offset=offset, prior=prior))
        return lines


class WrappedClassifier:
    """A classifier of scikit-learn as a learner; codes that it has not seen get a small probability."""

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, features: Floats, codes: Codes, kinds: int) -> WrappedClassifier:
        """Learn, with a fresh copy of the classifier."""
        from sklearn.base import clone

        self.kinds_, self.only_code_ = kinds, int(codes[0])
        self.fitted_ = None if np.all(codes == codes[0]) else clone(self.classifier).fit(features, codes)
        return self

    def log_posterior(self, features: Floats) -> Floats:
        """Logarithms of probabilities."""
        wide = np.full((len(features), self.kinds_), 1e-6)
        if self.fitted_ is None:
            wide[:, self.only_code_] = 1.0
        else:
            wide[:, np.asarray(self.fitted_.classes_, dtype=np.int64)] += self.fitted_.predict_proba(features)
        return np.asarray(np.log(wide / wide.sum(axis=1, keepdims=True)))


def learner_of(classifier: Any) -> GuessingLearner:
    """The default learner, or a classifier of scikit-learn wrapped as one."""
    if classifier is None:
        return Discriminant()
    require(
        hasattr(classifier, "fit") and hasattr(classifier, "predict_proba"),
        "learner",
        type(classifier).__name__,
        "None or a scikit-learn classifier with predict_proba",
    )
    return WrappedClassifier(classifier)

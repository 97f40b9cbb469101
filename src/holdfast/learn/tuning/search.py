"""PrivateSearch: a search over settings that pays for what it learns, unlike GridSearchCV.

GridSearchCV fits every setting on overlapping rows and reads their scores without noise; each of these costs, and
none is counted. Here the whole search, its choice included, spends one budget.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from holdfast.errors import ParameterError, require
from holdfast.learn.choice import title_of, unregistered
from holdfast.learn.estimators.estimator import GAUSSIAN_QUANTILE, LAPLACE_QUANTILE, PrivateLinearEstimator
from holdfast.learn.methods.method import Fit, Learner
from holdfast.learn.problem import Problem
from holdfast.learn.problem.losses import Squared
from holdfast.learn.rows.examples import Examples
from holdfast.learn.rows.prepare import Prepared
from holdfast.learn.tuning.candidates import (
    Candidate,
    Chosen,
    ClippedLoss,
    Score,
    choose_by_random_stopping,
    choose_on_parts,
    try_each,
)
from holdfast.learn.tuning.random_stopping import RandomStopping
from holdfast.learn.tuning.rehearsal import COMMON, Search, first_that_pays, rehearse_search
from holdfast.privacy.account import Account
from holdfast.privacy.account.request import (
    limit_of,
    open_account,
    require_small_delta,
    require_something_left,
    seed_of,
)
from holdfast.privacy.curves.curve import PrivacyCurve
from holdfast.release import Release
from holdfast.release.release import plain_parameters

Floats = NDArray[np.float64]
Strategy = Literal["parts", "random_stopping"]
STRATEGIES = ("parts", "random_stopping")
SEARCHED = ("method", "options", "penalty", "radius")
"""What may differ between candidates; what rows look like may not, for all are scored on the same ones."""


@dataclass(frozen=True)
class WrongClass:
    """0 or 1 per row: whether the predicted class is wrong; a null row, of label 0 and two classes, counts as wrong."""

    bound: float = 1.0

    def rows(self, weights: Floats, features: Floats, labels: Floats) -> Floats:
        """The side of the plane, or the largest of several scores."""
        scores = features @ np.atleast_2d(weights).T
        if scores.shape[1] == 1:
            return np.where(labels * scores[:, 0] > 0, 0.0, 1.0)
        return np.where(scores.argmax(axis=1) == labels, 0.0, 1.0)


def _can(name: str) -> Any:
    return available_if(lambda search: hasattr(search.estimator, name))


class PrivateSearch(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """The best of several settings of a private estimator, within one budget.

    Parameters
    ----------
    estimator : one of holdfast's. Its own epsilon and delta are not used.
    param_grid : names and values, or a list of such, as in scikit-learn; of method, options, penalty and radius. The
        grid is public: write it down before looking at the data.
    epsilon, delta : the promise about the whole search. Ignored where `fit` is given an account.
    strategy : `"parts"` trains each setting on a part of its own and chooses on a further part, by the exponential
        mechanism: all parts are disjoint, so each spends everything. Good for few settings and many rows.
        `"random_stopping"` trains settings drawn at random on all rows, a secret random number of times, and
        releases the best: each run gets less than half of the budget, however long the grid. It needs
        `delta=0`, or methods that count in zCDP. Either way the search is first rehearsed on null rows: candidates
        that no common account pays for, or that refuse their options, are refused before anything is spent.
    holdout : the share of the rows on which `"parts"` chooses.
    stopping : the law of the number of runs of `"random_stopping"`.
    random_state : None for secure noise; a seed makes the search repeatable and not private.

    `fit` leaves `best_estimator_`, `best_params_`, `best_index_` and `release_`. Scores are not left: they would
    cost more. `predict` and the like are those of the best estimator.

    >>> from holdfast.learn import PrivateLogisticRegression
    >>> X, y = np.tile([[0.6, 0.1], [-0.5, 0.2]], (2000, 1)), np.tile([1, 0], 2000)
    >>> model = PrivateLogisticRegression(classes=[0, 1], method="output")
    >>> search = PrivateSearch(model, {"penalty": [0.01, 0.1]}, epsilon=2.0, delta=1e-6).fit(X, y)
    >>> search.predict([[0.9, 0.0], [-0.9, 0.0]]).tolist(), sorted(search.best_params_)
    ([1, 0], ['penalty'])
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        strategy: Strategy = "parts",
        holdout: float = 0.2,
        stopping: RandomStopping | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.epsilon = epsilon
        self.delta = delta
        self.strategy = strategy
        self.holdout = holdout
        self.stopping = stopping
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, account: Account | None = None, target: str | None = None) -> Self:
        """Search on rows X and labels y, or on a holdfast `Table` and the name of its target column."""
        settings = self._settings()
        models = [clone(self.estimator).set_params(**setting, random_state=None) for setting in settings]
        limit = limit_of(self.epsilon, self.delta) if account is None else account.remaining()
        for model in models:
            model.set_params(epsilon=self.epsilon, delta=self.delta)._check_parameters(account)
        prepared = models[0]._prepare(X, y, target, account)
        trainers = [_Trainer(model=model, prepared=prepared, idealised=[]) for model in models]
        methods, score = [trainer.decide(prepared, limit)[0] for trainer in trainers], _score(models[0])
        require_small_delta(limit if account is None else account.limit, prepared.examples.public_count)
        search = self._rehearsed(_candidates(trainers, settings), score)
        if account is None:
            account = self._open(limit, methods, prepared, search)
        else:
            require_something_left(account)
            rehearse_search(search, prepared.examples, account)
        for trainer in trainers:
            trainer.idealised.clear()
        chosen = self._choose(_candidates(trainers, settings), prepared.examples, account, score=score)
        self.best_index_, self.best_params_ = chosen.index, settings[chosen.index]
        self.best_estimator_ = models[chosen.index]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(models[0], name):
                setattr(self.best_estimator_, name, getattr(models[0], name))
        quantile = GAUSSIAN_QUANTILE if limit.as_pure() is None else LAPLACE_QUANTILE
        value = self.best_estimator_._learn(prepared, chosen.fit, quantile=quantile).value()
        real = any(trainer.idealised for trainer in trainers)
        self.release_ = Release.of(
            account,
            value,
            method=f"{type(self.best_estimator_).__name__}, {title_of(methods[chosen.index])}",
            parameters=plain_parameters(
                {"search": self.strategy, "candidates": len(settings), "chosen": chosen.name}
                | dict(chosen.fit.parameters)
            ),
            schema_hash=prepared.schema_hash,
            assumptions=(
                *prepared.assumptions,
                *chosen.fit.assumptions,
                # All of them saw the rows, whichever was chosen.
                *dict.fromkeys(text for method in methods for text in unregistered(method)),
                "the candidates were written down before looking at the data",
                *(("noise inside the candidates' training is analysed as real numbers",) if real else ()),
            ),
            theorem=f"{chosen.theorem}; {chosen.fit.theorem}",
        )
        self.best_estimator_.release_ = self.release_
        self.best_estimator_.method_ = methods[chosen.index].name
        return self

    def _settings(self) -> list[dict[str, Any]]:
        require(self.strategy in STRATEGIES, "strategy", self.strategy, "one of " + ", ".join(STRATEGIES))
        if not isinstance(self.estimator, PrivateLinearEstimator):
            raise ParameterError(
                f"estimator must be one of holdfast's, got {type(self.estimator).__name__}; put a pipeline's other "
                "steps before the search"
            )
        settings = [dict(setting) for setting in ParameterGrid(self.param_grid)]
        require(len(settings) >= 1, "param_grid", len(settings), "at least one setting")
        foreign = sorted({name for setting in settings for name in setting} - set(SEARCHED))
        if foreign:
            raise ParameterError(
                f"param_grid must name {', '.join(SEARCHED)} only, got {', '.join(foreign)}; run one search each, and "
                "share an account between them"
            )
        return settings

    def _open(
        self, limit: PrivacyCurve, methods: Sequence[Learner], prepared: Prepared, search: Search
    ) -> Account:
        """An account that pays for every candidate: their own currency if they share one that will do."""
        seed, examples = seed_of(self.random_state), prepared.examples
        for method in methods:
            open_account(limit, method, adjacency=examples.adjacency, unit=examples.unit, seed=seed)

        def opened(currency: str) -> Account:
            return Account(
                limit, adjacency=examples.adjacency, unit=examples.unit, currency=currency, seed=seed
            )

        if limit.as_pure() is not None:
            currencies: tuple[str, ...] = ("pure",)
        elif self.strategy == "random_stopping":
            currencies = ("renyi",)
        else:
            currencies = (*(method.currency for method in methods), *COMMON)
        return first_that_pays(search, examples, opened, currencies)

    def _choose(
        self, candidates: Sequence[Candidate], examples: Examples, account: Account, *, score: Score
    ) -> Chosen:
        if self.strategy == "parts":
            return choose_on_parts(candidates, examples, account=account, score=score, holdout=self.holdout)
        return choose_by_random_stopping(
            candidates, examples, account=account, score=score, stopping=self.stopping
        )

    def _rehearsed(self, candidates: Sequence[Candidate], score: Score) -> Search:
        """The same search with every candidate in it, for a rehearsal."""
        if self.strategy == "parts":
            return lambda examples, account: self._choose(candidates, examples, account, score=score)
        return lambda examples, account: try_each(
            candidates, examples, account=account, score=score, stopping=self.stopping
        )

    # Using it.

    @property
    def classes_(self) -> NDArray[Any]:
        """The best estimator's."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.classes_)

    def predict(self, X: Any) -> NDArray[Any]:
        """By the best estimator."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict(X))

    @_can("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """By the best estimator."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict_proba(X))

    @_can("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """By the best estimator."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.decision_function(X))

    def score(self, X: Any, y: Any) -> float:
        """Accuracy or R^2 on other rows; on the training rows it would not be private."""
        check_is_fitted(self, "best_estimator_")
        return float(self.best_estimator_.score(X, y))

    def summary(self) -> str:
        """What was searched and chosen, and the chosen model."""
        check_is_fitted(self, "best_estimator_")
        head = (
            f"PrivateSearch by {self.strategy}: chose {self.best_params_} of {len(self._settings())} settings"
        )
        return f"{head}\n{self.best_estimator_.summary()}"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = self.estimator.__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags = inner.estimator_type, inner.classifier_tags
        tags.regressor_tags, tags.target_tags = inner.regressor_tags, inner.target_tags
        tags.input_tags.sparse, tags.non_deterministic = inner.input_tags.sparse, True
        return tags


@dataclass(frozen=True, kw_only=True, eq=False)
class _Trainer:
    """One setting: how it trains on some rows within an account."""

    model: Any
    prepared: Prepared
    idealised: list[bool]
    """Whether any of its charges was analysed in real numbers."""

    def decide(self, prepared: Prepared, left: PrivacyCurve) -> tuple[Learner, Problem, dict[str, Any]]:
        """Method, problem and options, as the estimator itself decides; from public quantities."""
        method, problem, choice = self.model._decide(prepared, self.model._problem(prepared), left)
        return method, problem, self.model._told(choice)

    def __call__(self, examples: Examples, account: Account) -> Fit:
        """Train, as `Candidate.train`."""
        method, problem, options = self.decide(
            dataclasses.replace(self.prepared, examples=examples), account.remaining()
        )
        fit = method.fit(examples, problem, account=account, **options)
        if any(entry.charge.arithmetic == "idealised" for entry in account.journal.entries):
            self.idealised.append(True)
        return fit


def _candidates(trainers: Sequence[_Trainer], settings: Sequence[Mapping[str, Any]]) -> list[Candidate]:
    return [
        Candidate(name=", ".join(f"{k}={v}" for k, v in setting.items()) or "as it is", train=trainer)
        for trainer, setting in zip(trainers, settings, strict=True)
    ]


def _score(model: Any) -> Score:
    """Wrong classes, or the squared loss of targets in [-1, 1], which is at most 2 for predictions in there."""
    if hasattr(model, "classes"):
        return WrongClass()
    return ClippedLoss(loss=Squared(target_bound=1.0), bound=2.0)

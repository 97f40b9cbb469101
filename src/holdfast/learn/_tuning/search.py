"""PrivateSearch: a search over settings that pays for what it learns, unlike GridSearchCV.

GridSearchCV fits every setting on overlapping rows and reads their scores without noise; each of these costs, and
none is counted. Here the whole search, its choice included, spends one budget.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.model_selection import ParameterGrid
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from holdfast._arguments import Seed, check_settings, checked
from holdfast._arrays import Floats
from holdfast._assumption import CHOICE, REAL_ARITHMETIC, Assumption, distinct
from holdfast._caution import warn
from holdfast.errors import AssumptionWarning, ParameterError, UselessReleaseWarning, require
from holdfast.learn._choice import author_assumptions, package_of
from holdfast.learn._estimators.estimator import GAUSSIAN_QUANTILE, LAPLACE_QUANTILE, PrivateLinearEstimator
from holdfast.learn._estimators.paid_score import row_scores
from holdfast.learn._estimators.pipeline import pipeline_release
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Squared
from holdfast.learn._rows.examples import Examples
from holdfast.learn._rows.payment import PaidFit, own_copy
from holdfast.learn._rows.prepare import PreparedRows
from holdfast.learn._tuning.candidates import (
    Candidate,
    ChosenCandidate,
    ClippedLoss,
    Score,
    choose_by_random_stopping,
    choose_on_parts,
    try_each,
)
from holdfast.learn._tuning.random_stopping import RandomStopping
from holdfast.learn._tuning.rehearsal import COMMON_CURRENCIES, Search, first_that_pays, rehearse_search
from holdfast.learn._tuning.whole_models import FIXED_PARAMETERS, WholeModels, model_of, require_searchable
from holdfast.learn.methods.method import Fit, Learner
from holdfast.privacy._account import Account
from holdfast.privacy._account.request import (
    limit_of,
    open_account,
    require_small_delta,
    require_something_left,
    seed_of,
)
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.release import Provenance, Release
from holdfast.release._release import plain_parameters
from holdfast.release._usefulness import Prospect, announce, influence

Strategy = Literal["parts", "random_stopping"]
STRATEGIES = ("parts", "random_stopping")
SEARCHED_PARAMETERS = ("method", "options", "penalty", "radius")
"""Where candidates differ in these only, all see the same prepared rows; else each is fitted whole."""
WRITTEN_BEFORE = Assumption(kind=CHOICE, text="the candidates were written down before looking at the data")
REAL_NUMBERS = Assumption(
    kind=REAL_ARITHMETIC, text="noise inside the candidates' training is analysed as real numbers"
)


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


@checked
class PrivateSearch(PaidFit, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """The best of several settings of a private estimator, within one budget.

    `fit` leaves `best_estimator_`, `best_params_`, `best_index_` and `release_`. Scores are not left: they would
    cost more. The search is first rehearsed on null rows: candidates that no common account pays for, or that refuse
    their options, are refused before anything is spent.

    Parameters
    ----------
    estimator : estimator or Pipeline
        One of holdfast's estimators, or a Pipeline of its steps that ends in one. Its own epsilon and delta are not
        used.
    param_grid : dict, or list of dict
        Names and values as in scikit-learn, `step__name` in a Pipeline: every parameter but the promise, its neighbours
        and the classes. The grid is public: write it down before looking at the data.
    epsilon : float
        The promise about the whole search, together with `delta`; > 0. Not used where `fit` is given an account.
    delta : float, optional
        In [0, 1): 0 asks for pure privacy. By default 1e-6, or less where the public number of rows asks for less.
    strategy : {"parts", "random_stopping"}
        "parts" trains each setting on a part of its own and chooses on a further part, by the exponential mechanism:
        all parts are disjoint, so each spends everything. Good for few settings and many rows. "random_stopping"
        trains settings drawn at random on all rows, a secret random number of times, and releases the best: each run
        gets less than half of the budget, however long the grid. It needs `delta=0`, or methods that count in zCDP.
    holdout : float
        The share of the rows on which "parts" chooses.
    stopping : RandomStopping, optional
        The law of the number of runs of "random_stopping".
    random_state : int, optional
        None for secure noise; a seed makes the search repeatable and not private.

    Formal guarantees
    -----------------
    * Neighbours: by the `adjacency` of the estimator; they differ in one row, or in one privacy unit of a `Table`.
    * Privacy: (epsilon, delta)-differential privacy of the best model and of its choice together: parallel composition
      over disjoint parts with the exponential mechanism, or random stopping (Papernot and Steinke 2022; soundness,
      section 5); each candidate by the theorem of its method.
    * Public: the grid, all parameters of the estimator, and the number of rows except under "add_remove".
    * Assumed: the grid was written down before looking at the data.

    Examples
    --------
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
        delta: float | None = None,
        strategy: Strategy = "parts",
        holdout: float = 0.2,
        stopping: RandomStopping | None = None,
        random_state: Seed | None = None,
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
        """Search, and leave the best model with the promise about the whole search in `release_`.

        Parameters
        ----------
        X : array-like or Table
            Rows, or a holdfast `Table`.
        y : array-like, optional
            Labels, one for each row; not for a `Table`.
        account : Account, optional
            Pays for the whole search, which spends all that remains in it; `epsilon` and `delta` are not used then.
        target : str, optional
            The name of the column to predict, where X is a `Table`.

        Returns
        -------
        self
            The search, with the best estimator in it.
        """
        check_settings(self)
        settings = self._settings()
        if account is not None:
            account = self._share_of(account, X)
        if self._fits_whole(settings):
            return self._search_whole(settings, X, y, account, target)
        models = [own_copy(self.estimator).set_params(**setting, random_state=None) for setting in settings]
        for model in models:
            model.set_params(epsilon=self.epsilon, delta=self.delta)._check_parameters(account)
        prepared = models[0]._prepare(X, y, target, account)
        count = prepared.examples.public_count
        limit = limit_of(self.epsilon, self.delta, count=count) if account is None else account.remaining()
        trainers = [_Trainer(model=model, prepared=prepared, idealised=[]) for model in models]
        methods, score = [trainer.decide(prepared, limit)[0] for trainer in trainers], _score(models[0])
        require_small_delta(limit if account is None else account.limit, count)
        self._chosen_by = self._assumptions_without_account(X) if account is None else ()
        search = self._rehearsal(_candidates(trainers, settings), score)
        if account is None:
            account = self._open(limit, methods, prepared, search)
        else:
            require_something_left(account)
            rehearse_search(search, prepared.examples, account)
        for trainer in trainers:
            trainer.idealised.clear()
        useless = _announce_prospects(account, prepared.examples, public=prepared.count_is_public)
        chosen = self._choose(_candidates(trainers, settings), prepared.examples, account, score=score)
        self.best_index_, self.best_params_ = chosen.index, settings[chosen.index]
        self.best_estimator_ = models[chosen.index]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(models[0], name):
                setattr(self.best_estimator_, name, getattr(models[0], name))
        quantile = GAUSSIAN_QUANTILE if limit.as_pure() is None else LAPLACE_QUANTILE
        value = self.best_estimator_._store_fit(prepared, chosen.fit, quantile=quantile).value()
        real = any(trainer.idealised for trainer in trainers)
        self.release_ = Release.paid_by(
            account,
            value,
            Provenance(
                method=methods[chosen.index].name,
                estimator=type(self.best_estimator_).__name__,
                package=package_of(methods[chosen.index]),
                parameters=plain_parameters(
                    {"search": self.strategy, "candidates": len(settings), "chosen": chosen.name}
                    | dict(chosen.fit.parameters)
                    | prepared.parameters
                ),
                schema_hash=prepared.schema_hash,
            ),
            assumptions=(
                *prepared.assumptions,
                *chosen.fit.assumptions,
                # All of them saw the rows, whichever was chosen.
                *distinct(stranger for method in methods for stranger in author_assumptions(method)),
                WRITTEN_BEFORE,
                *self._chosen_by,
                *((REAL_NUMBERS,) if real else ()),
            ),
            theorem=f"{chosen.theorem}; {chosen.fit.theorem}",
            prospects=useless,
        )
        self.best_estimator_.release_ = self.release_
        self._record_payer(account)
        self.best_estimator_._payer = account
        self.best_estimator_.method_ = methods[chosen.index].name
        return self

    def _settings(self) -> list[dict[str, Any]]:
        require(self.strategy in STRATEGIES, "strategy", self.strategy, "one of " + ", ".join(STRATEGIES))
        require_searchable(self.estimator)
        settings = [dict(setting) for setting in ParameterGrid(self.param_grid)]
        require(len(settings) >= 1, "param_grid", len(settings), "at least one setting")
        names = {name for setting in settings for name in setting}
        for name in sorted(names):
            if name.split("__")[-1] in FIXED_PARAMETERS:
                raise ParameterError(
                    f"param_grid must not name {name}, which all candidates share; set it on the search or on its "
                    "estimator"
                )
        unknown = sorted(names - set(self.estimator.get_params()))
        if unknown:
            near = get_close_matches(unknown[0], self.estimator.get_params(), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ParameterError(
                f"param_grid must name parameters of the estimator, got {unknown[0]!r}{hint}"
            )
        return settings

    def _fits_whole(self, settings: Sequence[Mapping[str, Any]]) -> bool:
        """Whether candidates differ in more than what a method does with the same rows."""
        names = {name for setting in settings for name in setting}
        return not isinstance(self.estimator, PrivateLinearEstimator) or not names <= set(SEARCHED_PARAMETERS)

    def _search_whole(
        self, settings: list[dict[str, Any]], X: Any, y: Any, account: Account | None, target: str | None
    ) -> Self:
        """The same search among models that are fitted whole, each with its own view of the rows."""
        limit_of(self.epsilon, self.delta)
        rows = WholeModels.of(self.estimator, X, y, target, account)
        count = rows.examples.public_count
        limit = limit_of(self.epsilon, self.delta, count=count) if account is None else account.limit
        require_small_delta(limit, count)
        self._chosen_by = self._assumptions_without_account(X) if account is None else ()
        for assumption in rows.read:
            warn(assumption.text, AssumptionWarning)
        candidates = [rows.candidate(setting, epsilon=self.epsilon, delta=self.delta) for setting in settings]
        search = self._rehearsal(candidates, rows)
        if account is None:
            opened = partial(self._open_account, limit, rows.examples)
            account = first_that_pays(search, rows.examples, opened, self._currencies(limit, ()))
        else:
            require_something_left(account)
            rehearse_search(search, rows.examples, account)
        # A rehearsal meets every candidate: which of them are trained later may be a secret.
        tried, rows.fitted = [model_of(model).release_ for model in rows.fitted], []
        useless = _announce_prospects(account, rows.examples, public=rows.examples.adjacency.count_is_public)
        chosen = self._choose(candidates, rows.examples, account, score=rows)
        self.best_index_, self.best_params_ = chosen.index, settings[chosen.index]
        self.best_estimator_ = best = rows.model(chosen.fit)
        own = pipeline_release(best) if hasattr(best, "steps") else best.release_
        real = any(release.provenance.arithmetic == "idealised" for release in tried)
        said = (
            *(*rows.read, *own.guarantee.assumptions),
            *(assumption for release in tried for assumption in release.guarantee.assumptions),
            *(*self._chosen_by, WRITTEN_BEFORE, *((REAL_NUMBERS,) if real else ())),
        )
        self.release_ = Release.paid_by(
            account,
            own.value,
            Provenance(
                method=own.provenance.method,
                estimator=own.provenance.estimator,
                package=own.provenance.package,
                steps=own.provenance.steps,
                parameters=plain_parameters(
                    {"search": self.strategy, "candidates": len(settings), "chosen": chosen.name}
                    | dict(own.provenance.parameters)
                    | rows.counted.parameters
                ),
                schema_hash=own.provenance.schema_hash if rows.table is None else rows.table.schema.hash(),
            ),
            assumptions=distinct(
                (*said, *self._chosen_by, WRITTEN_BEFORE, *((REAL_NUMBERS,) if real else ()))
            ),
            theorem=f"{chosen.theorem}; {own.guarantee.theorem}",
            prospects=useless,
        )
        model = model_of(best)
        model.counted_ = rows.counted
        mine = dataclasses.replace(self.release_.provenance, steps=())
        model.release_ = dataclasses.replace(self.release_, value=model.release_.value, provenance=mine)
        self._record_payer(account)
        for _, step in getattr(best, "steps", [("", best)]):
            if isinstance(step, PaidFit):
                step._payer = account  # the account itself, which paid for all parts
        return self

    def _open(
        self, limit: PrivacyCurve, methods: Sequence[Learner], prepared: PreparedRows, search: Search
    ) -> Account:
        """An account that pays for every candidate: their own currency if they share one that will do."""
        seed, examples = seed_of(self.random_state), prepared.examples
        for method in methods:
            open_account(limit, method, adjacency=examples.adjacency, unit=examples.unit, seed=seed)

        currencies = self._currencies(limit, [method.currency for method in methods])
        return first_that_pays(search, examples, partial(self._open_account, limit, examples), currencies)

    def _currencies(self, limit: PrivacyCurve, own: Sequence[str]) -> tuple[str, ...]:
        if limit.as_pure() is not None:
            return ("pure",)
        return ("renyi",) if self.strategy == "random_stopping" else (*own, *COMMON_CURRENCIES)

    def _open_account(self, limit: PrivacyCurve, examples: Examples, currency: str) -> Account:
        seed = seed_of(self.random_state)
        return Account(limit, adjacency=examples.adjacency, unit=examples.unit, currency=currency, seed=seed)

    def _choose(
        self, candidates: Sequence[Candidate], examples: Examples, account: Account, *, score: Score
    ) -> ChosenCandidate:
        with warnings.catch_warnings():
            # It was said of the search as a whole; how many candidates are trained may be a secret.
            warnings.simplefilter("ignore", UselessReleaseWarning)
            return self._choice_of_candidate(candidates, examples, account, score=score)

    def _choice_of_candidate(
        self, candidates: Sequence[Candidate], examples: Examples, account: Account, *, score: Score
    ) -> ChosenCandidate:
        if self.strategy == "parts":
            return choose_on_parts(candidates, examples, account=account, score=score, holdout=self.holdout)
        return choose_by_random_stopping(
            candidates, examples, account=account, score=score, stopping=self.stopping
        )

    def _rehearsal(self, candidates: Sequence[Candidate], score: Score) -> Search:
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
        """The predictions of the best estimator for the rows of `X`."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict(X))

    @_can("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of classes by the best estimator for the rows of `X`."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict_proba(X))

    @_can("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """The scores by the best estimator for the rows of `X`."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.decision_function(X))

    def score(self, X: Any, y: Any) -> float:
        """Accuracy or R^2 on other rows `X` with labels `y`; on the training rows it would not be private."""
        check_is_fitted(self, "best_estimator_")
        share = self._score_share
        return (
            float(self.best_estimator_.score(X, y))
            if share is None
            else share.score(row_scores(self.best_estimator_, X, y))
        )

    def summary(self) -> str:
        """What was searched and chosen, and the chosen model."""
        check_is_fitted(self, "best_estimator_")
        head = (
            f"PrivateSearch by {self.strategy}: chose {self.best_params_} of {len(self._settings())} settings"
        )
        return f"{head}\n{model_of(self.best_estimator_).summary()}"

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
    prepared: PreparedRows
    idealised: list[bool]
    """Whether any of its charges was analysed in real numbers."""

    def decide(self, prepared: PreparedRows, left: PrivacyCurve) -> tuple[Learner, Problem, dict[str, Any]]:
        """Method, problem and options, as the estimator itself decides; from public quantities."""
        method, problem, choice = self.model._choose_method(prepared, self.model._problem(prepared), left)
        return method, problem, self.model._method_options(choice)

    def __call__(self, examples: Examples, account: Account) -> Fit:
        """Train, as `Candidate.train`."""
        method, problem, options = self.decide(
            dataclasses.replace(self.prepared, examples=examples), account.remaining()
        )
        fit = method.fit(examples, problem, account=account, **options)
        if any(entry.charge.arithmetic == "idealised" for entry in account.journal.entries):
            self.idealised.append(True)
        return fit


def _announce_prospects(account: Account, examples: Examples, *, public: bool) -> tuple[Prospect, ...]:
    """What is said of the whole search before it pays."""
    number = examples.public_count if public else None
    return announce([influence(account.remaining(), number, noun=examples.unit.noun)])


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

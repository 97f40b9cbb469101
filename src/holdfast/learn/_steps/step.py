"""PrivateStep: the base class of the private steps of a pipeline. Each releases sums, paid by an account or an epsilon.

A step learns from the rows that it transforms, so it pays. With an account it spends a declared share of what remains
and leaves the rest to the steps after it; the promise of the whole pipeline is then that of the account.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast._assumption import Assumption
from holdfast._caution import warn
from holdfast.errors import AssumptionWarning, FormatError, ParameterError
from holdfast.learn._parameters import Constraint, check_parameters
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn._rows.input_matrix import input_matrix
from holdfast.learn._rows.numbers_only import numbers_only
from holdfast.learn._rows.payment import ROWS_AS_COLLECTED, PaidFit
from holdfast.learn._rows.public_count import count_of_array
from holdfast.learn._rows.summation import rounding_of_sum
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import fractions_of_rest, noise_within
from holdfast.privacy._account.request import (
    admit,
    limit_of,
    open_account,
    require_small_delta,
    require_something_left,
    seed_of,
)
from holdfast.privacy._account.shared import FitShare
from holdfast.privacy._adjacency import Adjacency, resolve_adjacency
from holdfast.privacy._mechanisms.mechanism import Arithmetic
from holdfast.release import Provenance, Release
from holdfast.release._usefulness import announce, influence


@dataclass(frozen=True)
class StepDeclaration:
    """What a step declares to the account that pays for it."""

    name: str
    pure: bool = True
    instead_of_pure: str = ""
    currency: str = "gdp"
    adjacencies: tuple[str, ...] = tuple(adjacency.value for adjacency in Adjacency)
    single_rows: str = "an array does not say whose its rows are; use a Table and an estimator"


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyMean:
    """A released sum over the public number of rows, and the standard deviation of the noise in each entry."""

    mean: Floats
    deviation: float


def release_mean(
    examples: ArrayExamples,
    total: Floats,
    account: Account,
    *,
    l2_sensitivity: float,
    row_size: float,
    arithmetic: Arithmetic,
    label: str,
) -> tuple[NoisyMean, tuple[Assumption, ...]]:
    """Release a sum over all rows, each of norm at most `row_size`, for all that the account has.

    Both neighbours' sums are rounded, which the sensitivity covers (soundness, section 20).
    """
    most, assumptions = examples.largest_count()
    noise = noise_within(
        account,
        l2_sensitivity=l2_sensitivity + 2.0 * most * row_size * rounding_of_sum(most),
        dimension=total.size,
        arithmetic=arithmetic,
    )
    released = np.asarray(account.release(noise.mechanism, total, label=label), dtype=np.float64)
    count = examples.public_count
    return NoisyMean(mean=released / count, deviation=noise.deviation / count), assumptions


@checked
class PrivateStep(PaidFit, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Learns from noisy sums of rows; a subclass defines the sums and what is computed from them."""

    epsilon: float
    delta: float | None
    share: float
    adjacency: Adjacency | str | None
    n_public: int | None
    arithmetic: Arithmetic
    random_state: Any
    release_: Release[Any]

    _constraints: ClassVar[Mapping[str, Constraint]] = {}
    FORMAT: ClassVar[str]
    THEOREM: ClassVar[str]
    PUBLIC: ClassVar[tuple[str, ...]] = ()
    """Parameters that a release carries, so that a loaded step transforms as the fitted one did."""
    LEARNED: ClassVar[tuple[str, ...]]

    def fit(self, X: Any, y: Any = None, account: Account | None = None) -> Self:
        """Learn from rows with noise, and leave the promise in `release_`.

        Parameters
        ----------
        X : array-like
            Rows of numbers.
        y : None
            Not looked at; a Pipeline passes labels.
        account : Account, optional
            Pays for the fit, which spends `share` of what remains in it; `epsilon` and `delta` are not used then.

        Returns
        -------
        self
            The fitted step.
        """
        self._check(account)
        adjacency = resolve_adjacency(self.adjacency, None if account is None else account.adjacency)
        # Where the number of rows is private, so is that there are none.
        secret = not adjacency.count_is_public and self.n_public is not None
        with numbers_only(X):
            matrix = validate_data(self, X, dtype=np.float64, ensure_min_samples=0 if secret else 1)
        count, read = count_of_array(len(matrix), self.n_public, adjacency)
        for assumption in read:
            warn(assumption.text, AssumptionWarning)
        rows = self._rows(matrix)
        examples = ArrayExamples(
            features=rows, labels=np.zeros(len(rows)), adjacency=adjacency, public_count=count
        )
        limit = limit_of(self.epsilon, self.delta, count=count) if account is None else account.limit
        require_small_delta(limit, count)
        paying = StepDeclaration(type(self).__name__)
        chosen_by: tuple[Assumption, ...] = ()
        if account is None:
            chosen_by = self._assumptions_without_account(X)
            account = open_account(
                limit, paying, adjacency=adjacency, unit=examples.unit, seed=seed_of(self.random_state)
            )
            part = account
        else:
            admit(examples, account, paying)
            account = self._share_of(account, X, closes=False)
            require_something_left(account)
            part = account if self.share == 1 else account.split(*fractions_of_rest(account, self.share))[0]
        useless = announce([influence(part.remaining(), None if read else count)])
        assumed = self._learn(examples, part)
        self._record_payer(account)
        if isinstance(account, FitShare):
            account.pass_on(len(self.get_feature_names_out()))
        self.release_ = Release.paid_by(
            account,
            self._value(),
            Provenance(
                estimator=type(self).__name__,
                parameters={} if part is account else {"share": float(self.share)},
            ),
            theorem=self.THEOREM,
            assumptions=(*read, *assumed, ROWS_AS_COLLECTED, *chosen_by),
            prospects=useless,
        )
        return self

    # What a subclass says.

    def _rows(self, X: Floats) -> Floats:
        """The rows as the proof needs them: within their bounds; a null record is a row of zeros."""
        raise NotImplementedError

    def _learn(self, examples: ArrayExamples, account: Account) -> tuple[Assumption, ...]:
        """Release and set what was learned; returns what that assumes."""
        raise NotImplementedError

    # Steps.

    def _check(self, account: Account | None) -> None:
        check_parameters(self)
        if account is None:
            limit_of(self.epsilon, self.delta)
        elif self.random_state is not None:
            raise ParameterError(
                "random_state must be None with an account, which draws the noise; open the account with a seed"
            )

    def _value(self) -> dict[str, Any]:
        """What a release stores: format, kind, and all that `transform` needs."""
        return {
            "format": self.FORMAT,
            "step": type(self).__name__,
            "columns": int(self.n_features_in_),
            **{name: getattr(self, name) for name in (*self.PUBLIC, *self.LEARNED)},
        }

    # Using it.

    def _input_matrix(self, X: Any) -> Floats:
        check_is_fitted(self, "release_")
        return cast(Floats, input_matrix(self, X))

    @classmethod
    def from_release(cls, release: Release[Any]) -> Self:
        """A fitted step from a release, ready to transform."""
        value = release.value
        if not isinstance(value, Mapping) or value.get("format") != cls.FORMAT:
            raise FormatError(f"the release does not hold a {cls.__name__}")
        step = cls(**{name: value[name] for name in cls.PUBLIC})
        step.n_features_in_ = int(value["columns"])
        for name in cls.LEARNED:
            setattr(step, name, value[name])
        step.release_ = release
        return step

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The same from a file that `release_.save(path)` wrote."""
        return cls.from_release(Release.load(path))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


def names_after(kind: str, count: int) -> NDArray[Any]:
    """kind0, kind1, ..."""
    return np.asarray([f"{kind}{place}" for place in range(count)], dtype=object)


def lined_up(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns that stand under each other."""
    widths = [max(len(line[place]) for line in (head, *rows)) for place in range(len(head))]
    return "\n".join(
        "  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)) for line in (head, *rows)
    )

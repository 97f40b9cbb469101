"""The oracle finds the best candidate and says that its choice is not private."""

from __future__ import annotations

import numpy as np
import pytest
from studies.reproductions.oracle_tuning import choose_by_oracle

from holdfast.errors import NotPrivateWarning, ParameterError
from holdfast.learn._rows.examples import ArrayExamples, Examples
from holdfast.learn._tuning.candidates import Candidate, ChosenCandidate
from holdfast.learn.methods.method import Fit
from holdfast.privacy import Account, Adjacency, Laplace, PureDP


def guess(*direction: float) -> Candidate:
    """Weights fixed in advance, for an account that is spent to the last."""

    def train(examples: Examples, account: Account) -> Fit:
        account.release(Laplace(scale=1.0, l1_sensitivity=1.0), [0.0])
        return Fit(weights=np.array(direction), theorem="none")

    return Candidate(name=str(direction), train=train)


CANDIDATES = [guess(-1.0, 0.0), guess(1.0, 0.0), guess(0.0, 1.0)]


def rows() -> ArrayExamples:
    features = np.random.default_rng(0).normal(size=(200, 2))
    labels = np.where(features[:, 0] > 0, 1.0, -1.0)
    return ArrayExamples(
        features=features, labels=labels, adjacency=Adjacency.replace, public_count=len(labels)
    )


def test_the_oracle_says_that_it_is_not_private() -> None:
    with pytest.warns(NotPrivateWarning):
        chosen = choose_by_oracle(CANDIDATES, rows(), limit=PureDP(1.0), validation=rows(), seed=0)
    assert isinstance(chosen, ChosenCandidate)
    assert chosen.index == 1
    assert not chosen.private
    assert "NOT PRIVATE" in chosen.summary()


def test_it_needs_a_candidate() -> None:
    with pytest.warns(NotPrivateWarning), pytest.raises(ParameterError, match="candidates"):
        choose_by_oracle([], rows(), limit=PureDP(1.0), validation=rows(), seed=0)

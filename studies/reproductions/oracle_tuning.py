"""Tuning by an oracle that sees the validation rows: a line in figures, not private and in no release.

It shows what a private choice of hyperparameters (`holdfast.learn._tuning`) costs beside one that pays nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from holdfast.errors import NotPrivateWarning, require
from holdfast.learn._rows.examples import Examples
from holdfast.learn._tuning.candidates import Candidate, ChosenCandidate, ErrorRate, Score, _total
from holdfast.privacy._account import Account
from holdfast.privacy._curves.curve import PrivacyCurve


def choose_by_oracle(
    candidates: Sequence[Candidate],
    examples: Examples,
    *,
    limit: PrivacyCurve,
    validation: Examples,
    score: Score | None = None,
    currency: str | None = None,
    seed: int,
) -> ChosenCandidate:
    """The best candidate by its true score, each trained with the whole limit: for figures, NOT PRIVATE.

    It looks at the validation rows without noise and pays for one training of many.
    """
    warnings.warn(
        "choose_by_oracle looks at the data without noise: figures only", NotPrivateWarning, stacklevel=2
    )
    require(len(candidates) >= 1, "candidates", len(candidates), ">= 1")
    measure = ErrorRate() if score is None else score
    fits = [
        candidate.train(
            examples,
            Account(
                limit, adjacency=examples.adjacency, unit=examples.unit, currency=currency, seed=seed + place
            ),
        )
        for place, candidate in enumerate(candidates)
    ]
    index = int(np.argmin([_total(measure, fit.weights, validation) for fit in fits]))
    return ChosenCandidate(
        index=index, name=candidates[index].name, fit=fits[index], theorem="none: an oracle", private=False
    )

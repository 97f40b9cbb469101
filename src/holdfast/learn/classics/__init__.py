"""CLASSICS: private learners of the literature for study and comparison, which `method="auto"` never chooses."""

from __future__ import annotations

from holdfast.learn.classics import bst14, dp_sgd, frank_wolfe, projected_histogram
from holdfast.learn.methods.method import Learner

CLASSICS: tuple[Learner, ...] = (
    bst14.METHOD,
    dp_sgd.METHOD,
    frank_wolfe.METHOD,
    projected_histogram.METHOD,
)

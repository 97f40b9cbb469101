"""audit(): plant canaries, train, guess, and hold the guesses against a claim.

holdfast flips the coins that decide which canaries are planted, so a contradiction is a contradiction.
Everything that could be tuned (number of canaries, guesses, bound) is fixed before training.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from holdfast._arguments import Seed, checked
from holdfast._regular_file import require_regular
from holdfast.audit._designs import AuditDesign, OneRun
from holdfast.audit._designs.question import Progress, Question
from holdfast.audit._result import ROWS, AuditResult, Rows, claimed_adjacency, claimed_delta
from holdfast.data._engines.places import module_file
from holdfast.errors import ParameterError, require, withholding
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._guarantee import Guarantee

DEFAULT_DESIGN = OneRun()


@checked
def audit(
    train: Callable[..., Any],
    data: Any,
    y: Any = None,
    *,
    claim: Guarantee | PrivacyCurve,
    design: AuditDesign = DEFAULT_DESIGN,
    adjacency: Adjacency | str | None = None,
    delta: float | None = None,
    rows: Rows | None = None,
    seed: Seed | None = None,
    progress: Progress = lambda done, total: None,
) -> AuditResult:
    """How much `train` leaks at least, measured on records that holdfast planted in `data`.

    Parameters
    ----------
    train : callable
        The code under audit. It takes what `data` is (an array of rows, or a pair (X, y)) and returns a vector, a model
        with `coef_` or `predict_proba`, or anything else together with a `score` of the design. For a `Transcript` it
        takes a table and an account instead.
    data : array, or a pair
        Rows of numbers, or rows and labels (X, y). For a `Transcript` two public tables.
    y : array, optional
        The labels, where `data` are the rows alone.
    claim : Guarantee or PrivacyCurve
        What is promised of `train`.
    design : OneRun, ManyRuns, Sequential or Transcript
        How the audit is made. By default `OneRun()`, one training with as many planted records as notice faults best.
    adjacency : {"replace", "zero_out", "add_remove"}, optional
        The neighbours that a bare curve is about; a guarantee says it itself.
    delta : float, optional
        At which epsilon is bounded; by default the claim's, if it is an (epsilon, delta) pair.
    rows : {"public", "generated", "real"}, optional
        What `data` are: "public", "generated" (from public values, as a released synthetic table), or "real", the
        default wherever there are rows: such a result is a function of private data and stays internal.
    seed : int, optional
        Repeats the auditor's coins; for examples only.
    progress : callable
        Called after each training with the number done and the number planned.

    Returns
    -------
    AuditResult
        A lower bound with its confidence, and what it says about the claim.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.audit import OneRun
    >>> from holdfast.privacy import PureDP
    >>> leaky = lambda rows: rows.sum(axis=0)                     # no noise at all
    >>> result = audit(
    ...     leaky, np.zeros((5, 40)), claim=PureDP(1.0), adjacency="add_remove", design=OneRun(canaries=30), seed=1
    ... )
    >>> result.verdict(PureDP(1.0))
    'refuted'
    """
    if y is not None:
        require(not isinstance(data, tuple), "y", "...", "None where data is a pair (X, y)")
        data = (data, y)
    require(rows is None or rows in ROWS, "rows", rows, f"one of {', '.join(ROWS)}")
    question = Question(
        claim=claim,
        adjacency=claimed_adjacency(claim, adjacency),
        delta=claimed_delta(claim, delta),
        rows=rows,
        source=Source(seed),
        progress=progress,
    )
    return design.answer(train, data, question)


def load(function: str) -> Callable[..., Any]:
    """The function that MODULE:FUNCTION names, from the current folder or an installed package.

    Where it fails, only the kind of its error is passed on: its words may quote the rows that it was given.
    """
    from importlib import import_module

    module, colon, name = function.partition(":")
    file = module_file(function)
    if file is not None:  # a pipe in its place would be waited for
        require_regular(file, what="the module of function", error=ParameterError)
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        loaded = getattr(import_module(module), name) if colon else None
    except (Exception, SystemExit):  # importing a module runs it
        loaded = None
    if not callable(loaded):
        raise ParameterError(f"function must be MODULE:FUNCTION of something importable, got {function!r}")
    train: Callable[..., Any] = loaded

    def train_without_error_text(*arguments: Any) -> Any:
        with withholding(f"the function {function}", "train"):
            return train(*arguments)

    return train_without_error_text

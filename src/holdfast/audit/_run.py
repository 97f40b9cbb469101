"""audit(): plant canaries, train, guess, and hold the guesses against a claim.

holdfast flips the coins that decide which canaries are planted, so a contradiction is a contradiction.
Everything that could be tuned (number of canaries, guesses, bound) is fixed before training.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import Seed, as_labels, checked, require_numbers, require_whole
from holdfast.audit._bounds import multi_run
from holdfast.audit._bounds.sequential import SequentialTest
from holdfast.audit._canaries import (
    Canaries,
    HadamardCanaries,
    LabelledCanaries,
    SphereCanaries,
    inclusion_coins,
)
from holdfast.audit._canaries.decoder import guess
from holdfast.audit._canaries.interference import interference
from holdfast.audit._canaries.labelled import random_labels
from holdfast.audit._canaries.planting import PlantedRecords, PlantedRows, Planting, Score, WithScore
from holdfast.audit._findings import (
    AnytimeGuesses,
    Finding,
    FixedGuesses,
    GaussianGuesses,
    GuessPath,
    Trainings,
    bits_as_text,
)
from holdfast.audit._findings.transcripts import BOUNDS as TRANSCRIPT_BOUNDS
from holdfast.audit._power import Design, power
from holdfast.audit._result import ROWS, AuditResult, Rows, claimed_adjacency, claimed_delta, describe_scores
from holdfast.audit._transcript import Budget, transcript_audit
from holdfast.errors import ParameterError, require, withholding
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._guarantee import Guarantee

Kind = Literal["one-run", "multi-run", "sequential", "transcript"]
BOUNDS: dict[str, tuple[str, ...]] = {
    "one-run": ("path", "geometric", "fixed", "gaussian"),
    "multi-run": ("clopper-pearson", "gaussian", "bayesian"),
    "sequential": ("bet",),
    "transcript": tuple(TRANSCRIPT_BOUNDS),
}
"""The bounds of each kind of audit; the first is the default."""
CANARIES, RUNS, TRANSCRIPTS = 1000, 400, 4000

MOST_CANARIES = 10_000_000
"""More fit into no memory."""


@checked
def audit(
    train: Callable[..., Any],
    data: Any,
    y: Any = None,
    *,
    claim: Guarantee | PrivacyCurve,
    kind: Kind = "one-run",
    adjacency: Adjacency | str | None = None,
    canaries: Canaries | LabelledCanaries | int | None = None,
    row_norm: float = 1.0,
    classes: Sequence[Any] | None = None,
    null: tuple[Any, Any] | None = None,
    score: Score | None = None,
    rows: Rows | None = None,
    noiseless: Callable[[Any], Any] | None = None,
    guesses: int | None = None,
    bound: str | None = None,
    delta: float | None = None,
    runs: int | None = None,
    currency: str | None = None,
    group: int = 1,
    seconds: float | None = None,
    confidence: float = 0.95,
    seed: Seed | None = None,
    announce: Callable[[Budget], None] = lambda budget: None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> AuditResult:
    """How much `train` leaks at least, measured on records that holdfast planted in `data`.

    `train` takes what `data` is (an array of rows, or a pair (X, y), which may be given as two arguments too) and
    returns a vector, a model with `coef_` or `predict_proba`, or anything else together with `score=`. `one-run` trains
    once with many canaries, `multi-run` trains `runs` times with and without one, `sequential` does so until the claim
    is refuted.
    `bound`, in one run: `path` takes the best number of guesses and pays for it exactly, `geometric` looks at a few
    numbers, `fixed` uses `guesses` as given, `gaussian` tests whole trade-off curves (best where the noise is
    Gaussian; its epsilon is an estimate). In many runs: `clopper-pearson`, or `gaussian` and `bayesian`, estimates too.
    `delta` is the one at which epsilon is bounded; by default the claim's, if it is an (epsilon, delta) pair.

    `transcript` is for code that draws from an account of holdfast: `data` are two public tables that differ in one
    record or in a `group` of them, `train` takes a table and an account, and both tables are run `runs` times or for so
    many CPU `seconds`, which `announce` hears first (`holdfast.audit._transcript`). It notices most of all kinds.

    `rows` declares what `data` are: `public`, `generated` (from public values, as a released synthetic table), or
    `real`, the default wherever there are rows: such a result is a function of private data and stays internal.
    `noiseless` is the same training without any noise. With it the result says what this audit would have noticed on
    your code; without it, what it would have noticed if the release were the sum of the rows. Where `canaries` is left
    open, one run takes so many that faults are noticed best.

    >>> from holdfast.privacy import PureDP
    >>> leaky = lambda rows: rows.sum(axis=0)                     # no noise at all
    >>> audit(leaky, np.zeros((5, 40)), claim=PureDP(1.0), canaries=30, adjacency="add_remove", seed=1).verdict(
    ...     PureDP(1.0))
    'refuted'
    """
    if y is not None:
        require(not isinstance(data, tuple), "y", "...", "None where data is a pair (X, y)")
        data = (data, y)
    relation = claimed_adjacency(claim, adjacency)
    shown_delta = claimed_delta(claim, delta)
    source = Source(seed)
    require(kind in BOUNDS, "kind", kind, "one of " + ", ".join(BOUNDS))
    chosen = BOUNDS[kind][0] if bound is None else bound
    require(chosen in BOUNDS[kind], "bound", bound, f"one of {', '.join(BOUNDS[kind])} for {kind}")
    require(rows is None or rows in ROWS, "rows", rows, f"one of {', '.join(ROWS)}")
    if kind == "transcript":
        planting_only = {
            "canaries": canaries,
            "classes": classes,
            "null": null,
            "score": score,
            "guesses": guesses,
        }
        planting_only["noiseless"] = noiseless
        for name, value in planting_only.items():
            require(value is None, name, "...", "left out for kind='transcript', which plants nothing")
        return transcript_audit(
            train,
            data,
            claim=claim,
            adjacency=adjacency,
            currency=currency,
            group=group,
            bound=chosen,
            delta=delta,
            runs=TRANSCRIPTS if runs is None else runs,
            seconds=seconds,
            rows=rows or "real",
            seed=seed,
            announce=announce,
            progress=progress,
        )
    for name, other in (("currency", currency is None), ("group", group == 1), ("seconds", seconds is None)):
        require(other, name, "...", "left out except for kind='transcript'")
    runs = RUNS if runs is None else runs
    features, labels = _split(data)

    def planted(chosen_canaries: Canaries | LabelledCanaries) -> Planting:
        made = _planting(features, labels, chosen_canaries, relation, classes, null)
        return made if score is None else WithScore(planting=made, score=score)

    curve = claim.curve if isinstance(claim, Guarantee) else claim

    def designed(planting: Planting) -> Design | None:
        strays = interference(planting, noiseless, single=kind != "one-run")
        if strays is None:
            return None
        return Design(claim=curve, interference=strays, measured=noiseless is not None, runs=runs)

    made_here = isinstance(canaries, int | None)
    if isinstance(canaries, int):
        require_whole("canaries", canaries, least=1, most=MOST_CANARIES)
    if isinstance(canaries, int | None):
        counts = (
            [1] if kind != "one-run" else [canaries] if canaries is not None else _counts(features.shape[1])
        )
        options = [planted(_directions(count, features.shape[1], row_norm)) for count in counts]
    else:
        options = [planted(canaries)]
    designs = [designed(one) for one in options]
    place = 0 if len(options) == 1 else _best(options, designs, guesses, chosen, shown_delta, confidence)
    planting, design = options[place], designs[place]
    require(
        kind == "one-run" or planting.count == 1, "canaries", planting.count, "one where many runs are made"
    )
    scores: dict[str, float]
    finding: Finding
    if kind == "one-run":
        finding, scores = _one_run(train, planting, source, guesses, chosen)
        progress(1, 1)
    elif kind == "multi-run":
        finding, scores = _multi_run(train, planting, source, runs, chosen, shown_delta, progress)
    else:
        finding = _sequential(train, planting, source, runs, claim, shown_delta, confidence, progress)
        scores = {}
    return AuditResult(
        finding=finding,
        delta=shown_delta,
        coins="holdfast",
        adjacency=relation,
        planted=planting.summary(),
        scores=scores,
        rows=rows or ("generated" if made_here and not len(features) else "real"),
        design=design,
    )


def _one_run(
    train: Callable[[Any], Any], planting: Planting, source: Source, guesses: int | None, bound: str
) -> tuple[Finding, dict[str, float]]:
    """Steinke, Nasr and Jagielski 2023: one training, a coin per canary, guesses from both ends."""
    count = planting.count
    most = _guesses(count, guesses, bound)
    coins = inclusion_coins(source, count)
    values = planting.scores(train(planting.data(coins)))
    right = guess(values, include=most - most // 2, exclude=most // 2).correct(coins)
    return _found(count, right, bound), describe_scores(values, coins)


def _guesses(count: int, asked: int | None, bound: str) -> int:
    """How many of the coins are guessed: as asked, else all along a path and half of them at once."""
    half = max(2, count // 2 // 2 * 2) if bound in ("fixed", "gaussian") else count // 2 * 2
    most = half if asked is None else asked
    require(1 <= most <= count, "guesses", most, f"in [1, {count}], the number of canaries")
    return most


def _found(count: int, right: NDArray[np.bool_], bound: str) -> Finding:
    """What one run showed, for this bound."""
    if bound in ("path", "geometric"):
        return GuessPath(
            canaries=count, right=bits_as_text(right), rule="exact" if bound == "path" else "geometric"
        )
    home = FixedGuesses if bound == "fixed" else GaussianGuesses
    return home(canaries=count, guesses=right.size, correct=int(right.sum()))


def _counts(dimension: int) -> list[int]:
    """Numbers of canaries worth considering: as many as there is room for without disturbing each other, or many."""
    return sorted({min(CANARIES, max(dimension, 2)), CANARIES})


def _best(
    options: Sequence[Planting],
    designs: Sequence[Design | None],
    guesses: int | None,
    bound: str,
    delta: float,
    confidence: float,
) -> int:
    """Which planting would notice faults best, from designs alone: nothing has been trained yet."""

    def worth(place: int) -> tuple[float, float]:
        design, count = designs[place], options[place].count
        if design is None:
            return (0.0, 0.0)
        blank = _found(count, np.zeros(_guesses(count, guesses, bound), dtype=bool), bound)
        known = power(blank, design, design.claim, delta=delta, confidence=confidence)
        return (known.no_noise, -(known.kappa or math.inf))

    return max(range(len(options)), key=worth)


def _multi_run(
    train: Callable[[Any], Any],
    planting: Planting,
    source: Source,
    runs: int,
    bound: Any,
    delta: float,
    progress: Callable[[int, int], None],
) -> tuple[Finding, dict[str, float]]:
    """One canary, a coin per training; the threshold is chosen on the first quarter of the trainings."""
    require(runs >= 16, "runs", runs, ">= 16")
    coins = inclusion_coins(source, runs)
    values = np.empty(runs)
    for place in range(runs):
        values[place] = _single(train, planting, bool(coins[place]))
        progress(place + 1, runs)
    require(
        4 <= int(coins.sum()) <= runs - 4,
        "runs",
        runs,
        "large enough that the canary is both in and out",
        "use more runs",
    )
    return Trainings(
        errors=multi_run.held_out(values[coins], values[~coins], delta=delta), bound=bound
    ), describe_scores(values, coins)


def _sequential(
    train: Callable[[Any], Any],
    planting: Planting,
    source: Source,
    runs: int,
    claim: Guarantee | PrivacyCurve,
    delta: float,
    confidence: float,
    progress: Callable[[int, int], None],
) -> Finding:
    """Train, guess by the scores seen so far, bet; stop as soon as the claim is refuted."""
    claimed = claim.epsilon(delta)
    game = SequentialTest(delta=delta, confidence=confidence)
    seen: dict[bool, list[float]] = {True: [], False: []}
    right: list[bool] = []
    for place in range(runs):
        coin = bool(inclusion_coins(source, 1)[0])
        value = _single(train, planting, coin)
        # The threshold knows earlier trainings only, so each guess is made before its coin is looked at.
        middle = 0.5 * sum(float(np.median(seen[planted] or [0.0])) for planted in (True, False))
        right.append((value >= middle) == coin)
        seen[coin].append(value)
        game = game.observe(right[-1])
        progress(place + 1, runs)
        if game.refutes(claimed):
            break
    return AnytimeGuesses(right=bits_as_text(right))


def _single(train: Callable[[Any], Any], planting: Planting, coin: bool) -> float:
    return float(planting.scores(train(planting.data(np.array([coin]))))[0])


def _planting(
    features: NDArray[np.float64],
    labels: NDArray[Any] | None,
    canaries: Canaries | LabelledCanaries,
    adjacency: Adjacency,
    classes: Sequence[Any] | None,
    null: tuple[Any, Any] | None,
) -> Planting:
    """Slots in the data for these canaries; directions get public random labels where labels are needed."""
    if labels is None:
        if isinstance(canaries, LabelledCanaries):
            raise ParameterError("labelled canaries need labelled data: give data=(X, y)")
        return PlantedRows(rows=features, canaries=canaries, adjacency=adjacency)
    if not isinstance(canaries, LabelledCanaries):
        canaries = LabelledCanaries(features=canaries, labels=random_labels(canaries.count, seed=1))
    if classes is None:
        raise ParameterError(
            "classes must name the two labels, in order, got classes=None; they are never read from y"
        )
    return PlantedRecords(
        features=features,
        labels=labels,
        canaries=canaries,
        adjacency=adjacency,
        classes=list(classes),
        null=null,
    )


def _directions(count: int, dimension: int, row_norm: float) -> Canaries:
    """Directions that do not get in each other's way, where there is room for that."""
    require(count >= 1, "canaries", count, ">= 1")
    if count <= dimension:
        return HadamardCanaries(count=count, dimension=dimension, row_norm=row_norm, seed=1)
    return SphereCanaries(count=count, dimension=dimension, row_norm=row_norm, seed=1)


def _split(data: Any) -> tuple[NDArray[np.float64], NDArray[Any] | None]:
    features, labels = data if isinstance(data, tuple) and len(data) == 2 else (data, None)
    rows = require_numbers("data", features)
    require(rows.ndim == 2, "data.ndim", rows.ndim, "2: an array of rows, or a pair (X, y)")
    names = None if labels is None else as_labels("y", labels)
    require(
        names is None or names.shape == (rows.shape[0],),
        "y.shape",
        getattr(names, "shape", None),
        "one per row",
    )
    return rows, names


def load(function: str) -> Callable[..., Any]:
    """The function that MODULE:FUNCTION names, from the current folder or an installed package.

    Where it fails, only the kind of its error is passed on: its words may quote the rows that it was given.
    """
    from importlib import import_module

    module, colon, name = function.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found = getattr(import_module(module), name) if colon else None
    except (Exception, SystemExit):  # importing a module runs it
        found = None
    if not callable(found):
        raise ParameterError(f"function must be MODULE:FUNCTION of something importable, got {function!r}")
    train: Callable[..., Any] = found

    def withheld(*given: Any) -> Any:
        with withholding(f"the function {function}", "train"):
            return train(*given)

    return withheld

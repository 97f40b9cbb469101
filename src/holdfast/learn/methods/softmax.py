"""Models of several classes, softmax or one-vs-all: noisy gradient descent, objective or output perturbation.

All three rest on the same two facts: a row's gradient, a (K, d) matrix, has Frobenius norm at most sqrt(2) X for the
softmax and sqrt(K) X for one-vs-all, and noise on the stacked K d numbers is one release (soundness, section 2).
Objective perturbation, for the softmax under pure epsilon, has its own file.
"""

from __future__ import annotations

import dataclasses
from typing import Literal

from holdfast.errors import ParameterError
from holdfast.learn._problem import Problem
from holdfast.learn._risk.descent import DescentChanges, Preconditioner
from holdfast.learn._rows.examples import Examples
from holdfast.learn.methods.method import Fit, Learner, PublicFacts, Rank, Settings, default_settings
from holdfast.learn.methods.noisy_gd import whitened_descent
from holdfast.learn.methods.output import output_perturbation
from holdfast.learn.methods.softmax_objective import covers, softmax_objective
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import is_pure
from holdfast.privacy._mechanisms.mechanism import Arithmetic

Engine = Literal["noisy_gd", "objective", "output"]
INEXACTNESS = 1e-3
"""The tolerance of the solver, as a multiple of L / n."""


def multiclass(
    examples: Examples,
    problem: Problem,
    *,
    account: Account,
    engine: Engine | None = None,
    preconditioner: Preconditioner | None = None,
    steps: int | None = None,
    step: float | None = None,
    momentum: float | None = None,
    arithmetic: Arithmetic = "strict",
) -> Fit:
    """Weights of shape (classes, columns), for a problem whose loss is `Softmax` or `OneVsAll`.

    `engine`: "noisy_gd" (Gaussian noise in every step; what the problem's rule in public quantities gives),
    "objective" (noise inside the objective, for the softmax under pure epsilon) or "output" (noise on the minimiser,
    for a penalised loss); the first of them that the account allows and the proof covers.
    """
    pure = is_pure(account.remaining())
    chosen = engine or (pure_engine(problem) if pure else "noisy_gd")
    if chosen == "objective":
        return softmax_objective(examples, problem, account=account, arithmetic=arithmetic)
    if chosen == "output":
        problem.require_strongly_convex(f"{problem.loss.name} with engine='output'")
        fit = output_perturbation(examples, problem, account=account, arithmetic=arithmetic)
        return dataclasses.replace(fit, parameters={"engine": "output", **fit.parameters})
    if pure:
        raise ParameterError("engine='noisy_gd' needs delta > 0: its noise is Gaussian; leave engine out")
    changes = DescentChanges(preconditioner=preconditioner, steps=steps, step=step, momentum=momentum)
    return _descent(examples, problem, account, changes, arithmetic=arithmetic)


def pure_engine(problem: Problem) -> Engine:
    """The engine without delta: objective perturbation where proof and solver cover the problem, else output."""
    return "objective" if covers(problem) else "output"


def _descent(
    examples: Examples, problem: Problem, account: Account, changes: DescentChanges, *, arithmetic: Arithmetic
) -> Fit:
    """Noisy gradient descent, preconditioned by a private second moment (soundness, section 20)."""
    loss = problem.loss
    descent = whitened_descent(
        examples,
        problem,
        account,
        schedule=None,
        changes=changes,
        factor=account.adjacency.gradient_factor * examples.unit.max_rows,
        count_bound=None,
        arithmetic=arithmetic,
        name=loss.name,
        moment="multiclass: second moment",
    )
    return Fit(
        weights=descent.weights,
        theorem="Noisy gradient descent on stacked class gradients: composed Gaussian mechanisms",
        parameters={
            "engine": "noisy_gd",
            "steps": descent.schedule.steps,
            "preconditioner": descent.schedule.preconditioner,
            "gradient_sensitivity": descent.l2_sensitivity,
            "gradient_noise_std": descent.gradient_noise,
        },
        assumptions=descent.assumptions,
    )


def _settings(facts: PublicFacts) -> Settings:
    """The engine, where there is no delta."""
    if not facts.pure:
        return default_settings(facts)
    engine = pure_engine(facts.problem)
    covered = "cover" if engine == "objective" else "do not cover"
    why = f"without delta, the proof and the solver of objective perturbation {covered} this problem"
    return Settings(options={"engine": engine}, reasons=(why,))


METHOD = Learner(
    name="softmax",
    run=multiclass,
    paper="CMS11; Bassily, Smith and Thakurta 2014; one model for all classes",
    needs=("convex", "lipschitz"),
    pure=True,
    outputs=("several",),
    single_rows="average each user's rows into one",
    ranks=(Rank(place=1),),
    behind="is for several classes",
    settings=_settings,
    centres=True,
)

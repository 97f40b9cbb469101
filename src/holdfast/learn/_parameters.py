"""Parameters that estimators share: each has one description and one constraint, declared here.

`with_parameters` adds the descriptions to the docstring of a class, and stores the constraints for `check_parameters`,
which `fit` calls. What depends on several parameters, or on the data, is checked where it is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from numbers import Integral, Real
from textwrap import fill
from typing import Any, TypeVar

import numpy as np

from holdfast._arguments import check_settings
from holdfast._docstrings import describing
from holdfast.errors import require

T = TypeVar("T")
LINE_WIDTH = 112
"""The width of the lines that are added to docstrings."""


def as_number(value: Any) -> float:
    """The value of a number; NaN for anything else, so that every comparison is false."""
    return math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)


def is_whole_number(value: Any) -> bool:
    """Whether a value is a whole number of Python or NumPy, and not a boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool)


@dataclass(frozen=True)
class Constraint:
    """A condition on a value, in words and as a test."""

    wanted: str
    holds: Callable[[Any], bool]

    def optional(self) -> Constraint:
        """The constraint that also allows None."""
        return Constraint(f"{self.wanted}, or None", lambda value: value is None or self.holds(value))


def one_of(*names: str) -> Constraint:
    """One of these texts.

    >>> one_of("huber", "hinge").wanted
    "one of 'huber', 'hinge'"
    """
    return Constraint(f"one of {', '.join(map(repr, names))}", lambda value: value in names)


FLAG = Constraint("True or False", lambda value: isinstance(value, bool | np.bool_))
POSITIVE = Constraint("> 0 and finite", lambda value: 0 < as_number(value) < math.inf)
NOT_NEGATIVE = Constraint(">= 0 and finite", lambda value: 0 <= as_number(value) < math.inf)
WITHIN_BALL = Constraint("> 0", lambda value: as_number(value) > 0)
"""A radius, which may be infinite."""
COUNT = Constraint("a whole number >= 1", lambda value: is_whole_number(value) and value >= 1)
SHARE = Constraint("in (0, 1]", lambda value: 0 < as_number(value) <= 1)
ARITHMETIC = one_of("strict", "idealised")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a constructor: its type and its text, as a docstring shows them, and what its value must be."""

    kind: str
    text: str
    constraint: Constraint | None = None
    """None where the value is checked elsewhere, or together with other parameters."""

    @property
    def description(self) -> str:
        """The type, then the text, a line below and indented."""
        indent = " " * 4
        return f"{self.kind}\n{fill(self.text, LINE_WIDTH, initial_indent=indent, subsequent_indent=indent)}"


def with_parameters(declared: Mapping[str, Parameter]) -> Callable[[type[T]], type[T]]:
    """A class decorator that documents and constrains the parameters of the constructor, as declared.

    Parameters
    ----------
    declared : mapping
        Parameters by name; those that the constructor does not take are left out.

    Returns
    -------
    callable
        A decorator of classes.
    """

    def decorate(kind: type[T]) -> type[T]:
        own = {name: declared[name] for name in signature(kind).parameters if name in declared}
        kind._constraints = {  # type: ignore[attr-defined]  # which every estimator declares
            name: parameter.constraint for name, parameter in own.items() if parameter.constraint is not None
        }
        return describing({name: parameter.description for name, parameter in own.items()})(kind)

    return decorate


def check_parameters(estimator: Any) -> None:
    """Check the parameters of an estimator: their types, then their constraints."""
    check_settings(estimator)
    for name, constraint in estimator._constraints.items():
        value = getattr(estimator, name)
        require(constraint.holds(value), name, value, constraint.wanted)


EPSILON = Parameter(
    "float",
    "The promise of one fit, together with `delta`; > 0. Not used where `fit` is given an account.",
)
PROMISE = {
    "epsilon": EPSILON,
    "delta": Parameter(
        "float, optional",
        "In [0, 1): 0 asks for pure privacy. By default 1e-6, or less where the public number of rows asks "
        "for less.",
    ),
    "adjacency": Parameter(
        """{"replace", "zero_out", "add_remove"}, optional""",
        "The neighbours that the promise is about; by default those of the account or of the table, else "
        '"replace".',
    ),
    "n_public": Parameter(
        "int, optional",
        'The public number of rows, needed under "add_remove"; else it is read from the data, which becomes '
        "an assumption.",
    ),
    "random_state": Parameter(
        "int, optional",
        "None for secure noise. A seed makes the run repeatable and not private, and the release says so.",
    ),
}
"""Parameters of everything that is fitted with privacy."""
LINEAR = PROMISE | {
    "epsilon": Parameter(
        "float",
        f"{EPSILON.text} `math.inf` fits without any privacy, by scikit-learn's solver.",
    ),
    "method": Parameter(
        "str or Learner",
        'A name in `holdfast.learn.LEARNERS`, a `Learner` of your own, or "auto": chosen from public '
        "quantities.",
    ),
    "options": Parameter(
        "dict, optional",
        'What the method is told beyond that, by name, as `{"steps": 20}`; what it takes is '
        "`[option.summary() for option in method.options]`. They are public: choose them without looking at "
        "the data.",
        Constraint("None or names and values", lambda value: value is None or isinstance(value, Mapping)),
    ),
    "row_norm": Parameter(
        "float, optional",
        "Rows are clipped to this Euclidean norm, in training and in prediction. Choose it without looking at "
        "the data; how many rows are clipped is private and never shown. By default 1; where a method for "
        "intervals is asked for and columns are declared, the norm that no declared row exceeds.",
        POSITIVE.optional(),
    ),
    "bounds": Parameter(
        "pair, or one per column, optional",
        "Of the columns of an array, declared from public knowledge: one pair (low, high) for all, one each, "
        "or by name. Columns are brought to [-1, 1] before rows are clipped, so that their units do not "
        "matter. A table's schema has them.",
    ),
    "classes": Parameter(
        "sequence, optional",
        "The set of labels, if it is public. If not given it is read from the data, which becomes an "
        "assumption of the promise, with a warning.",
    ),
    "target_bounds": Parameter(
        "(float, float), optional",
        "Targets are clipped to (low, high): declare them from public knowledge, since noise grows with their "
        "distance. A schema gives them for tables. Where nobody does, targets are clipped to [-1, 1], with a "
        "warning, and the release says so.",
    ),
    "fit_intercept": Parameter(
        "bool",
        "Adds a constant column, which counts in the norm and in the penalty.",
        FLAG,
    ),
    "penalty": Parameter(
        "float, optional",
        "lambda in mean loss + (lambda / 2) |w|^2. None: 0, or a public rule where the method needs one.",
        NOT_NEGATIVE.optional(),
    ),
    "radius": Parameter(
        "float, optional",
        "Weights are confined to this Euclidean norm, in the target's units; None for no bound.",
        WITHIN_BALL.optional(),
    ),
    "arithmetic": Parameter(
        """{"strict", "idealised"}, optional""",
        "How noise is drawn; None for the method's own choice.",
        ARITHMETIC.optional(),
    ),
}
"""Parameters of linear estimators."""
ADDITIVE = PROMISE | {
    "delta": Parameter(
        "float, optional",
        "In (0, 1). By default 1e-6, or less where the public number of rows asks for less.",
    ),
    "bounds": Parameter(
        "pair, or one per column, optional",
        "For arrays, where features lie: (low, high) for all, one pair per column, or by name. Values outside "
        "are clipped. A `Table` declares its own. If not given, [-1, 1], with a warning.",
    ),
    "classes": Parameter(
        "sequence, optional",
        "The set of labels, if it is public and no schema declares it.",
    ),
    "target_bounds": LINEAR["target_bounds"],
    "interactions": Parameter(
        "bool",
        "Whether pairs of columns may have a shape of their own, where the budget pays for them.",
        FLAG,
    ),
    "monotone": Parameter(
        "dict, optional",
        'Columns whose shape must rise (+1) or fall (-1), as `{"age": +1}`; they stay out of pairs. Declare '
        "it from what is known, not from the data.",
    ),
}
"""Parameters of additive estimators."""
STEP = PROMISE | {
    "share": Parameter(
        "float",
        "With an account, the share of what remains in it that is spent; the rest pays for what follows.",
        SHARE,
    ),
    "row_norm": Parameter(
        "float",
        "Rows longer than this are shortened to it, here and in `transform`.",
        POSITIVE,
    ),
    "arithmetic": Parameter(
        """{"strict", "idealised"}""",
        "How noise is drawn.",
        ARITHMETIC,
    ),
}
"""Parameters of private steps of a pipeline."""

"""LinearModel: released weights, and everything that is needed to use them without holdfast."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast._stored_fields import require_fields, require_format
from holdfast.errors import FormatError, require
from holdfast.learn._problem.problem import POSITIVE, are_sorted

FORMAT = "holdfast-linear-model/1"
RULE = "shorten x to Euclidean norm row_norm if it is longer; score = coef . x + intercept"


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearModel:
    """A fitted linear model, in the user's units. Everything in it is released."""

    model: str
    """The name of the estimator."""
    coef: Floats
    """One row of coefficients per score."""
    intercept: Floats
    row_norm: float
    """The norm to which rows are clipped, in training and prediction."""
    classes: tuple[Any, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    noise_std: float | None = None
    """The standard deviation of the privacy noise in each coefficient; None where the method does not know it."""
    intercept_noise_std: float | None = None
    noise_quantile: float | None = None
    """How many standard deviations on both sides hold 95 % of the noise."""
    schema: Mapping[str, Any] | None = None
    """With a schema, an `Encoder` of it and of `columns` computes the features of a table."""
    columns: tuple[str, ...] | None = None
    choice: str | None = None
    """Why the method was chosen, where a rule chose it."""
    link: str | None = None
    """"sigmoid" where each score has a probability of its own (one class against the rest), which are then divided by
    their sum; otherwise None."""
    inference: Mapping[str, Any] | None = None
    """What intervals are computed from, where the method released enough for them."""
    reference: tuple[str, ...] | None = None
    """Columns whose first category has no feature."""

    def __post_init__(self) -> None:
        for name, value in (
            ("classes", self.classes),
            ("feature_names", self.feature_names),
            ("columns", self.columns),
            ("reference", self.reference),
        ):
            object.__setattr__(self, name, None if value is None else tuple(value))
        object.__setattr__(self, "coef", np.asarray(self.coef, dtype=np.float64))
        object.__setattr__(self, "intercept", np.asarray(self.intercept, dtype=np.float64))
        require(self.coef.ndim == 2, "coef.ndim", self.coef.ndim, "2")
        require(self.intercept.shape == self.coef.shape[:1], "intercept", "...", "one number per row of coef")
        require(0 < self.row_norm < math.inf, "row_norm", self.row_norm, "> 0 and finite")

    def value(self) -> dict[str, Any]:
        """What a release stores."""
        return {"format": FORMAT, "rule": RULE} | self._fields()

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @property
    def positive(self) -> Any:
        """The class of two that a score above 0 stands for; None where there are not two."""
        return self.classes[1] if self.classes is not None and len(self.classes) == 2 else None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the coefficients, with that of the intercept last."""
        names = self.feature_names or tuple(f"x{place}" for place in range(self.coef.shape[1]))
        return (*names, "(intercept)")

    @classmethod
    def of_value(cls, value: Any) -> LinearModel:
        """The model of a release's value; `FormatError` for a release of something else."""
        require_format("model", value, FORMAT)
        names = list(cls.__dataclass_fields__)
        stored = require_fields("model", value, ("format", "rule", *names))
        if stored["classes"] is not None and not are_sorted(stored["classes"]):
            raise FormatError("the stored model must list its classes in sorted order, and does not")
        try:
            return cls(**{name: stored[name] for name in names})
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError("a field of the stored model is missing or of the wrong kind") from error

    def to_json(self, **fields: Any) -> str:
        """Plain JSON of weights, the rule that uses them, and other `fields`; usable without holdfast."""
        plain = self._fields() | {"coef": self.coef.tolist(), "intercept": self.intercept.tolist()}
        if self.positive is not None:
            plain[POSITIVE] = self.positive
        return json.dumps(
            {"format": FORMAT, "rule": RULE} | plain | fields, indent=1, allow_nan=False, default=_plain_value
        )

    def table(self, most: int = 40) -> str:
        """One line per coefficient: its value, its privacy noise, and an interval for its value without noise."""
        several = self.coef.shape[0] > 1
        lines = [f"  {'':<28} {'weight':>12}" + (f" {'noise':>10}   95 % interval" if self.noise_std else "")]
        for row, (weights, constant) in enumerate(zip(self.coef, self.intercept, strict=True)):
            names = self.feature_names or tuple(f"x{place}" for place in range(len(weights)))
            prefix = f"{self.classes[row]}: " if several and self.classes else ""
            entries = [*zip(names, weights, strict=True)][: most // self.coef.shape[0] or 1]
            lines += [self._line(f"{prefix}{name}", weight, self.noise_std) for name, weight in entries]
            further = len(weights) - len(entries)
            if further > 0:
                lines.append(f"  {prefix}... and {further} more")
            lines.append(self._line(f"{prefix}(intercept)", constant, self.intercept_noise_std))
        return "\n".join(lines)

    def _line(self, name: str, weight: float, std: float | None) -> str:
        line = f"  {name[:28]:<28} {weight:>12.5g}"
        if std is None or self.noise_quantile is None:
            return line
        reach = self.noise_quantile * std
        return f"{line} {std:>10.3g}   [{weight - reach:.4g}, {weight + reach:.4g}]"


def _plain_value(value: Any) -> Any:
    """A NumPy number or array as a Python number or list."""
    return value.tolist()

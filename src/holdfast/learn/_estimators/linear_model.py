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
    """coef (one row per score), intercept, and the norm that rows are clipped to, in training and prediction.

    `noise_std` is that of the privacy noise in each coefficient, `intercept_noise_std` in the intercept,
    `noise_quantile` how many of them hold 95 % of the noise; None where the method does not know them. With
    `schema`, features come from a table by an `Encoder` of that schema and `columns`. `choice` says how the method
    was chosen, if by rule. `link` is "sigmoid" where each score has a probability of its own (one class against the
    rest), which are then divided by their sum. `inference` is what intervals are made of, where the method released
    enough. `reference` names columns whose first category has no feature.
    """

    model: str
    coef: Floats
    intercept: Floats
    row_norm: float
    classes: tuple[Any, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    noise_std: float | None = None
    intercept_noise_std: float | None = None
    noise_quantile: float | None = None
    schema: Mapping[str, Any] | None = None
    columns: tuple[str, ...] | None = None
    choice: str | None = None
    link: str | None = None
    inference: Mapping[str, Any] | None = None
    reference: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("classes", "feature_names", "columns", "reference"):
            value = getattr(self, name)
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

    def to_json(self, **more: Any) -> str:
        """Plain JSON: weights and the rule that uses them; needs no holdfast to read."""
        plain = self._fields() | {"coef": self.coef.tolist(), "intercept": self.intercept.tolist()}
        if self.positive is not None:
            plain[POSITIVE] = self.positive
        return json.dumps(
            {"format": FORMAT, "rule": RULE} | plain | more, indent=1, allow_nan=False, default=_item
        )

    def table(self, most: int = 40) -> str:
        """One line per coefficient: the number, the privacy noise in it, and 95 % of where it was without."""
        several = self.coef.shape[0] > 1
        lines = [f"  {'':<28} {'weight':>12}" + (f" {'noise':>10}   95 % interval" if self.noise_std else "")]
        for row, (weights, constant) in enumerate(zip(self.coef, self.intercept, strict=True)):
            names = self.feature_names or tuple(f"x{place}" for place in range(len(weights)))
            prefix = f"{self.classes[row]}: " if several and self.classes else ""
            entries = [*zip(names, weights, strict=True)][: most // self.coef.shape[0] or 1]
            lines += [self._line(f"{prefix}{name}", weight, self.noise_std) for name, weight in entries]
            left = len(weights) - len(entries)
            lines += [f"  {prefix}... and {left} more"] * (left > 0)
            lines.append(self._line(f"{prefix}(intercept)", constant, self.intercept_noise_std))
        return "\n".join(lines)

    def _line(self, name: str, weight: float, std: float | None) -> str:
        line = f"  {name[:28]:<28} {weight:>12.5g}"
        if std is None or self.noise_quantile is None:
            return line
        reach = self.noise_quantile * std
        return f"{line} {std:>10.3g}   [{weight - reach:.4g}, {weight + reach:.4g}]"


def _item(value: Any) -> Any:
    """A NumPy number or array as plain ones."""
    return value.tolist()

"""Layers: the inside of a linear model or small network, with activations and gradients record by record.

An attacker with the weights sees what each layer computes and the gradient of the loss in its weights (Nasr, Shokri
and Houmansadr 2019). For a layer z = h W + b that gradient is the outer product of h and dL/dz, so these
two factors say all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast.attack._models.fitted import linear_model
from holdfast.attack._models.target import Target
from holdfast.attack._records import Records
from holdfast.errors import ParameterError

Curve = Callable[[Floats], Floats]
ACTIVATIONS: dict[str, tuple[Curve, Curve]] = {
    "identity": (lambda z: z, np.ones_like),
    "relu": (lambda z: np.maximum(z, 0.0), lambda h: (h > 0.0).astype(np.float64)),
    "tanh": (lambda z: np.tanh(z), lambda h: 1.0 - h * h),
    "logistic": (lambda z: 0.5 * (1.0 + np.tanh(0.5 * z)), lambda h: h * (1.0 - h)),
}
"""Each activation function, and its derivative as a function of the activation."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LayerPass:
    """One layer on some records: its inputs h, its outputs z, and the gradient of the loss in z (`slopes`)."""

    inputs: Floats
    outputs: Floats
    slopes: Floats

    def gradient_norms(self) -> Floats:
        """The length of each record's gradient in this layer's weights and constants."""
        sizes = [np.einsum("ij,ij->i", factor, factor) for factor in (self.inputs, self.slopes)]
        return np.asarray(np.sqrt((1.0 + sizes[0]) * sizes[1]))


def has_layers(model: Any) -> bool:
    """Whether the weights of this model are known: `coef_` of a linear one, `coefs_` of a network."""
    return hasattr(model, "coefs_") or (hasattr(model, "coef_") and hasattr(model, "intercept_"))


def layer_passes(target: Target, records: Records) -> list[LayerPass]:
    """All layers, first to last, with the activations of a forward pass and the gradients of a backward pass.

    The loss is the logarithmic one of a classifier and half the squared error of a regression, whatever the model
    was trained with; both have slope prediction minus truth in the last layer's z.
    """
    from holdfast.data._clipped_rows import clip_rows

    model = target.model
    if not has_layers(model):
        raise ParameterError(
            f"the model has no layers to look at, got {type(model).__name__}; where the target is a linear model or a "
            "network, train= must give such models too"
        )
    weights, constants, activation = _weights(model)
    rows = target.matrix(records)
    linear = linear_model(model)
    inputs = [rows if linear is None else clip_rows(rows, linear.row_norm)]
    outputs = []
    activate, slope = ACTIVATIONS[activation]
    for matrix, constant in zip(weights, constants, strict=True):
        outputs.append(inputs[-1] @ matrix + constant)
        inputs.append(activate(outputs[-1]))
    slopes = [_last_slopes(target, records, outputs[-1].shape[1])]
    for place in range(len(weights) - 1, 0, -1):
        slopes.append((slopes[-1] @ weights[place].T) * slope(inputs[place]))
    backward = reversed(slopes)
    return [
        LayerPass(inputs=h, outputs=z, slopes=g)
        for h, z, g in zip(inputs[:-1], outputs, backward, strict=True)
    ]


def _weights(model: Any) -> tuple[list[Floats], list[Floats], str]:
    """Weight matrices (inputs, outputs), constants, and the name of the activation of hidden layers."""
    if hasattr(model, "coefs_"):
        return list(model.coefs_), list(model.intercepts_), str(model.activation)
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    return [coef.T], [np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))], "identity"


def _last_slopes(target: Target, records: Records, units: int) -> Floats:
    if target.task == "regression":
        return -target.residuals(records)[:, None]
    off = target.probabilities(records)
    off[np.arange(records.count), target.label_columns(records)] -= 1.0
    # The model's own classes, in its order: a reference model may know fewer than the target.
    names = np.asarray(target.model.classes_).tolist()
    places = [target.classes.index(name) for name in names]
    return np.asarray(off[:, places[-1:] if units == 1 else places])

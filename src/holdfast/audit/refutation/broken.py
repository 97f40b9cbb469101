"""Versions that are wrong on purpose, each with its source: all of them must be refuted.

None of them is a mechanism that an account accepts: they are subjects of the refutation suite and nothing
else. What `refute` does not refute here is a hole in the suite.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from holdfast.audit.refutation.subject import Subject, matching, of_mechanism, subject_label
from holdfast.audit.refutation.subjects import claims
from holdfast.audit.refutation.subjects.bolt_on import RUNS, BoltOn, of_bolt_on
from holdfast.audit.refutation.two_worlds import Sample
from holdfast.errors import ParameterError
from holdfast.noise.idealised import exponential, normal
from holdfast.noise.source import Source
from holdfast.privacy.mechanisms import MECHANISMS
from holdfast.privacy.mechanisms.gaussian import Gaussian
from holdfast.privacy.mechanisms.mechanism import Mechanism
from holdfast.privacy.mechanisms.vector_laplace import VectorLaplace


def quieter(mechanism: Mechanism, factor: float = 2.0) -> Mechanism:
    """The same mechanism with its noise divided by the factor: in its declared law, but not in its claim.

    >>> quieter(Gaussian(sigma=1.0, l2_sensitivity=1.0)).sigma
    0.5
    """
    changed: Any = mechanism
    for name in ("sigma", "scale"):
        if hasattr(changed, name):
            return _replaced(changed, name, float(getattr(changed, name)) / factor)
    if hasattr(changed, "base"):
        return _replaced(changed, "base", quieter(changed.base, factor))
    if not hasattr(changed, "epsilon"):
        raise ParameterError(
            f"{mechanism.name} has none of the fields sigma, scale, epsilon, base; name its noise by one of them"
        )
    return _replaced(changed, "epsilon", float(changed.epsilon) * factor)


def _replaced(mechanism: Any, field: str, value: Any) -> Mechanism:
    again: Mechanism = dataclasses.replace(mechanism, **{field: value})
    return again


def same_noise(mechanism: Mechanism) -> Sample:
    """Draws with one seed, whatever source is handed in."""
    return lambda value, source: mechanism.sample(value, Source(seed=1))


def one_noise_for_all(value: Any, source: Source) -> Any:
    """The same standard normal number in every coordinate: each alone has the right law."""
    return value + normal(source, size=1)


def exponential_length(value: Any, source: Source) -> Any:
    """A random direction with an exponential length: right in one dimension only."""
    direction = normal(source, size=value.size)
    return value + direction * (exponential(source, size=1)[0] / np.linalg.norm(direction))


def _halved() -> Iterable[Subject]:
    for kind in MECHANISMS:
        for example in kind.examples():
            yield of_mechanism(
                example, sample=quieter(example).sample, name=f"noise_halved {subject_label(example)}",
                broken="half the declared noise is drawn", draws=2000,
            )  # fmt: skip


def _samplers() -> Iterable[Subject]:
    normal_noise = Gaussian(sigma=1.0, l2_sensitivity=1.0, arithmetic="idealised")
    vector_noise = VectorLaplace(epsilon=1.0, l2_sensitivity=1.0, arithmetic="idealised")
    yield of_mechanism(
        normal_noise, sample=same_noise(normal_noise), name="fixed_noise_seed", draws=2400,
        broken="every release draws the same noise (TensorFlow Privacy's bolt-on optimiser fixes op seed 1)",
    )  # fmt: skip
    yield of_mechanism(
        normal_noise, sample=one_noise_for_all, name="one_noise_for_all", draws=2400,
        broken="one number is added to every coordinate: differences are released without noise",
    )  # fmt: skip
    yield of_mechanism(
        vector_noise, sample=exponential_length, name="exponential_length", draws=2400,
        broken="vector noise with an exponential instead of a Gamma length",
    )  # fmt: skip


def _bolt_on() -> Iterable[Subject]:
    yield of_bolt_on(
        name="bolt_on_divided_by_batch", claimed=BoltOn.printed, runs=RUNS[:1], draws=2400,
        broken="sensitivity 2L/(penalty m b), as Wu 2016 prints and TensorFlow Privacy ships; the b does not belong",
    )  # fmt: skip
    yield claims.averaging(
        2.0 / 1000, name="averaging_without_factor",
        broken="the average of iterates with the last iterate's sensitivity (Wu 2016, lemma 3.15)",
    )  # fmt: skip
    yield claims.short_batch(
        1,
        name="short_batch_own_size",
        broken="a last batch of one record averaged over one (Wu 2016, b does not divide m)",
    )


def _printed() -> Iterable[Subject]:
    yield claims.certificate(
        -math.log(1.0 - 2 * 0.05), name="certificate_offset_printed",
        broken="offset -b ln(1 - 2u) as Fine 2020 prints: coverage 0.55 instead of 0.95",
    )  # fmt: skip
    yield claims.noisy_max(
        1.0,
        name="noisy_max_half_scale",
        broken="report-noisy-max with Laplace(1/epsilon) on scores that are not monotone",
    )
    yield claims.ridge_claim(
        2.0,
        name="ridge_residual_from_data",
        broken="M taken from the observed residuals instead of a bound for every dataset",
    )
    yield claims.calibration(
        claims.classical_sigma(16.0, 1e-6), epsilon=16.0, delta=1e-6, name="classical_gaussian_16",
        broken="sqrt(2 ln(1.25/delta))/epsilon beyond epsilon 1, where it is proved up to 1 only",
    )  # fmt: skip


def broken(name: str | None = None) -> tuple[Subject, ...]:
    """Everything that must fall, or what begins with this name."""
    return matching((*_bolt_on(), *_samplers(), *_printed(), *_halved()), name)

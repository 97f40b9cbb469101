"""NOISE_FAULTS: noise that is not fresh, or too small, in everything that draws noise.

A replay cannot see whether noise is new in every step. So every method, synthesiser, choice among candidates and
statistic is run with stale noise, which its freshness trial must see; and for each law one method that draws from it is
run with half of the noise. The mistake is planted in the function through which all of them draw, or in the sampler.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.learn._catalogue import LEARNERS
from holdfast.refute._planting import PlantedFault
from holdfast.synth._catalogue import SYNTHESISERS

OTHER_SUBJECTS = (
    "tuning choose_on_parts replace",
    "tuning choose_by_random_stopping replace",
    "search parts",
    "search random_stopping",
    "estimator auto",
    "additive replace",
    "scaler replace",
    "pca replace",
    "data counts replace",
    "data functions replace",
    "data sums replace",
)
HALVED_SAMPLERS = (
    ("adassp replace", "gaussian:Gaussian.sample", "sigma=sigma, size", "sigma=sigma / 2, size"),
    ("functional replace", "laplace:Laplace.sample", "scale=self.scale,", "scale=self.scale / 2,"),
    (
        "bst14 replace",
        "gaussian:Gaussian.sample",
        "float(self.sigma) * noise",
        "0.5 * float(self.sigma) * noise",
    ),
    (
        "bolt_on replace",
        "vector_laplace:VectorLaplace.sample",
        "source, **self._stand_in(value.size)",
        "source, **{k: v / 2 if k == 'scale' else v for k, v in self._stand_in(value.size).items()}",
    ),
    ("objective replace", "objective:_ObjectiveMechanism.sample", "minimise(linear,", "minimise(linear / 2,"),
)
"""A subject, the sampler that it draws from, and the change of text that halves the sampler's noise."""


def noise_faults() -> Iterator[PlantedFault]:
    """Stale noise for every subject, halved noise for `HALVED_SAMPLERS`."""
    methods = [f"{method.name} {method.adjacencies[0]}" for method in LEARNERS]
    methods += [f"{method.name} {method.adjacencies[0]}" for method in SYNTHESISERS]
    for subject in (*methods, *OTHER_SUBJECTS):
        yield PlantedFault(
            name=f"stale_noise {subject}",
            target="privacy._account.account:_draw",
            old="return source.draw_and_record(account, mechanism, checked)",
            new="source._noise = Source(7)\nreturn source.draw_and_record(account, mechanism, checked)",
            why="every draw has the noise of the first (TensorFlow Privacy's bolt-on optimiser fixes a seed)",
            subjects=(subject,),
            test="freshness",
        )
    for subject, target, old, new in HALVED_SAMPLERS:
        yield PlantedFault(
            name=f"half_the_noise {subject}",
            target=f"privacy._mechanisms.{target}",
            old=old,
            new=new,
            why="half of the declared noise is drawn",
            subjects=(subject,),
            test="freshness",
        )


NOISE_FAULTS = tuple(noise_faults())

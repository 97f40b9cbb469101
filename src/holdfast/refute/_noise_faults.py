"""NOISE_FAULTS: noise that is not fresh, or too small, under everything that draws noise.

Whether a method's noise is new in every step cannot be seen by replay, so each method, synthesiser, choice among
candidates and statistic is run with stale noise, which its freshness trial must see; and one of those that draw from
each law also with half of it. The mistake lies in the function through which all of them draw, or in the sampler.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.learn._catalogue import LEARNERS
from holdfast.refute._planting import PlantedFault
from holdfast.synth._catalogue import SYNTHESISERS

MADE_OF_METHODS = (
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
HALVED = (
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
        "source, **{name: one / 2 if name == 'scale' else one for name, one in self._stand_in(value.size).items()}",
    ),
    ("objective replace", "objective:_Perturbed.sample", "minimise(linear,", "minimise(linear / 2,"),
)
"""Where a sampler draws, and what makes its noise half of what it was."""


def noise_faults() -> Iterator[PlantedFault]:
    """One or more for each."""
    entries = [f"{method.name} {method.adjacencies[0]}" for method in LEARNERS]
    entries += [f"{method.name} {method.adjacencies[0]}" for method in SYNTHESISERS]
    for subject in (*entries, *MADE_OF_METHODS):
        yield PlantedFault(
            name=f"stale_noise {subject}",
            target="privacy._account.account:_draw",
            old="return source.drawn(account, mechanism, checked)",
            new="source._noise = Source(7)\nreturn source.drawn(account, mechanism, checked)",
            why="every draw has the noise of the first (TensorFlow Privacy's bolt-on optimiser fixes a seed)",
            subjects=(subject,),
            test="freshness",
        )
    for subject, target, old, new in HALVED:
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

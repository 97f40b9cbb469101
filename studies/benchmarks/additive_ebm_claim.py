"""How far one record moves what DP-EBM's regression releases first, against what its noise is scaled for.

Run inside an environment with `interpret` (0.7.8): `python studies/benchmarks/additive_ebm_claim.py`; imports
nothing of this folder. Noise is replaced by zeros, so what is compared are the centres: sums of residuals over
leaves. The neighbours differ in the value of one record's target, or in whether the record is there at all.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

warnings.simplefilter("ignore")
RATE, ROWS = 0.01, 200


def first_update(y: Any, x: Any, bounds: tuple[float, float]) -> tuple[Any, float]:
    """The sums of the first round's leaves and the standard deviation of the noise meant for them."""
    from interpret.glassbox._ebm import _boost
    from interpret.privacy import DPExplainableBoostingRegressor
    from interpret.utils._native import Native

    seen: list[Any] = []
    kept_noise, kept_update = Native.generate_gaussian_random, _boost.Booster.get_term_update

    def silent(self: Any, rng: Any, stddev: float, count: int) -> Any:
        return np.zeros(count)

    def watched(self: Any) -> Any:
        made = kept_update(self)
        seen.append(np.array(made, copy=True))
        return made

    Native.generate_gaussian_random, _boost.Booster.get_term_update = silent, watched
    try:
        model = DPExplainableBoostingRegressor(
            epsilon=1.0,
            delta=1e-5,
            privacy_bounds={0: (0.0, 1.0)},
            privacy_target_min=bounds[0],
            privacy_target_max=bounds[1],
            random_state=1,
            max_rounds=1,
            learning_rate=RATE,
            n_jobs=1,
            outer_bags=1,
            feature_types=["continuous"],
        )
        model.fit(x, y)
    finally:
        Native.generate_gaussian_random, _boost.Booster.get_term_update = kept_noise, kept_update
    return seen[0], float(model.noise_scale_boosting_)


def leaves(update: Any) -> Any:
    """One number per leaf: neighbouring bins of one leaf hold the same sum."""
    flat = np.ravel(update)
    return flat[np.concatenate([[True], np.diff(flat) != 0])]


def main() -> None:
    x = np.full((ROWS, 1), 0.5)
    for low, high in ((-5.0, 5.0), (100.0, 110.0)):
        whole, _ = first_update(np.full(ROWS, high), x, (low, high))
        less, _ = first_update(np.full(ROWS - 1, high), x[1:], (low, high))
        changed, _ = first_update(np.append(np.full(ROWS - 1, high), low), x, (low, high))
        scaled = RATE * (high - low)
        gone, other = (abs(leaves(whole).sum() - leaves(one).sum()) / scaled for one in (less, changed))
        print(
            f"targets in [{low:g}, {high:g}]: the noise is scaled for {scaled:.3g}; a record that goes moves the first "
            f"sum by {gone:.2f} times that, a target that changes by {other:.2f} times"
        )


if __name__ == "__main__":
    main()

"""sepFEM: FEM whose leader is perturbed on a small separator set of queries (Vietri et al. 2020)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.noise.source import Source
from holdfast.privacy.account import Account
from holdfast.synth.counted import Counted
from holdfast.synth.method import Method, Synthesis
from holdfast.synth.methods.fem import MOST_ROUNDS, PERTURBATION, SAMPLES, play, uniforms
from holdfast.synth.objective import one_hot_starts
from holdfast.synth.workload import Workload

Floats = NDArray[np.float64]
THEOREM = "exponential mechanism, T adaptive selections of sensitivity 1; the oracle post-processes (sepFEM)"


def sep_fem(
    data: Counted,
    workload: Workload,
    *,
    account: Account,
    rounds: int | None = None,
    samples: int = SAMPLES,
    perturbation: float = PERTURBATION,
    oracle: str = "auto",
    most_rounds: int = MOST_ROUNDS,
    **options: Any,
) -> Synthesis:
    """FEM with Laplace noise on separators: queries of which any two records answer at least one differently.

    The separators are the binary digits of each column's cell code, ceil(log2 d) for a column of d cells, the least
    that separate; on binary columns they are the columns. Privacy as in `fem`: no privacy rests on the noise.
    """
    return play(
        data, workload, account=account, method="sep_fem", noise=separator_noise, rounds=rounds, samples=samples,
        perturbation=perturbation, oracle=oracle, most_rounds=most_rounds, theorem=THEOREM,
    )  # fmt: skip


def separators(domain: Mapping[str, int]) -> Floats:
    """Every separator as a 0/1 row of one-hot coefficients.

    >>> separators({"a": 2, "b": 3}).astype(int).tolist()
    [[0, 1, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]]
    """
    starts = one_hot_starts(domain)
    made = []
    for start, cells in zip(starts[:-1], domain.values(), strict=True):
        for bit in range((cells - 1).bit_length()):
            row = np.zeros(starts[-1])
            row[start : start + cells] = (np.arange(cells) >> bit) & 1
            made.append(row)
    return np.array(made).reshape(-1, starts[-1])


def separator_noise(domain: Any, rows: int, scale: float, source: Source) -> Floats:
    """Independent Laplace variables of this scale, one for each separator, as one-hot coefficients."""
    basis = separators(domain)
    uniform = uniforms(source, rows, len(basis))
    laplace = -scale * np.sign(uniform - 0.5) * np.log1p(-2.0 * np.abs(uniform - 0.5))
    return np.asarray(laplace @ basis)


METHOD = Method(name="sep_fem", run=sep_fem, paper="Vietri et al. 2020", pure=True)

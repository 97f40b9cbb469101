"""The Gaussian mechanism's pair: N(mu, 1) against N(0, 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holdfast.privacy.numeric.dominating_pair import UNIT, Array, Cells, DominatingPair, between


@dataclass(frozen=True)
class NormalPair(DominatingPair):
    """The loss at x is mu x - mu^2 / 2; symmetric: both directions have the same curve."""

    mu: float

    def cells(self, edges: Array) -> Cells:
        """Differences of normal tails, always of the smaller tail."""
        from scipy.special import erfcx, ndtr

        mu = self.mu
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            x = edges / mu + mu / 2
            away = x - mu
            # P: the smaller tail of N(mu, 1); its relative error grows with the exponent.
            p_tail = ndtr(-np.abs(away))
            # Q: the smaller tail of N(0, 1), and the same times e^loss = phi(x - mu) / phi(x).
            q_tail = ndtr(-np.abs(x))
            scaled = 0.5 * erfcx(np.abs(x) / np.sqrt(2.0)) * np.exp(-0.5 * away * away)
            scaled = np.where(np.isinf(edges), 0.0, scaled)
            one = np.ones(edges.size - 1)
            p, p_size = between(p_tail, away > 0, one, one)
            q, q_size = between(q_tail, x > 0, one, one)
            step = np.where(np.isinf(edges[1:]), 0.0, np.exp(edges[:-1] - edges[1:]))
            whole = np.exp(np.minimum(edges[:-1], 700.0))
            q_scaled, s_size = between(scaled, x > 0, np.where(np.isneginf(edges[:-1]), 0.0, step), whole)
            trust = UNIT * (
                4.0 + np.maximum(np.minimum(np.abs(x[:-1]), 60.0), np.minimum(np.abs(x[1:]), 60.0)) ** 2
            )
            trust = np.where(np.abs(away[:-1]) < 60, np.maximum(trust, UNIT * (4.0 + away[:-1] ** 2)), trust)
            p_error = trust * p_size / np.maximum(p, 1e-320)
            q_error = trust * np.maximum(
                np.where(q > 1e-290, q_size / np.maximum(q, 1e-320), 0.0),
                np.where(q_scaled > 0, s_size / np.maximum(q_scaled, 1e-320), 0.0),
            )
        return Cells(
            p=p, q=q, q_scaled=q_scaled, p_error=np.minimum(p_error, 1.0), q_error=np.minimum(q_error, 1.0)
        )

    def loss_range(self, tail: float) -> tuple[float, float]:
        """Normal quantiles, one unit further out."""
        from scipy.special import ndtri

        reach = 1.0 - float(ndtri(tail))
        return self.mu**2 / 2 - self.mu * reach, self.mu**2 / 2 + self.mu * reach

"""Planted faults in noise, curves, mechanisms and accounts."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="gaussian: noise halved",
        file="privacy/mechanisms/gaussian.py",
        old="enlarged = sigma * (sensitivity + root * grid.step) / sensitivity",
        new="enlarged = sigma / 2",
        tests=("tests/contracts/test_mechanisms.py::test_is_not_refuted", "tests/test_privacy_mechanisms.py"),
    ),
    Fault(
        name="laplace: noise halved",
        file="privacy/mechanisms/laplace.py",
        old="enlarged = exact * (sensitivity + value.size * grid.step) / sensitivity",
        new="enlarged = exact / 2",
        tests=("tests/test_privacy_mechanisms.py",),
    ),
    Fault(
        name="exponential: factor 2 of non-monotone scores forgotten",
        file="privacy/mechanisms/selection.py",
        old="halves = 1 if self.monotone else 2",
        new="halves = 1",
        tests=("tests/contracts/test_mechanisms.py::test_is_not_refuted", "tests/test_privacy_mechanisms.py"),
    ),
    Fault(
        name="grid: rounding of the centre not charged",
        file="privacy/mechanisms/gaussian.py",
        old="enlarged = sigma * (sensitivity + root * grid.step) / sensitivity",
        new="enlarged = sigma",
        tests=("tests/test_privacy_mechanisms.py",),
    ),
    Fault(
        name="vector Laplace: exponential instead of Gamma length",
        file="privacy/mechanisms/vector_laplace.py",
        old="l1_sensitivity = root_above(value.size) * as_written(self.l2_sensitivity)",
        new="l1_sensitivity = as_written(self.l2_sensitivity)",
        tests=("tests/test_privacy_mechanisms.py",),
    ),
    Fault(
        name="account: noise before charge",
        file="privacy/account.py",
        old="        entry = self.journal.charge(self._charge(mechanism, 1, key=key, label=label), self._caps)\n",
        new=(
            "        mechanism.sample(checked, self.source)\n"
            "        entry = self.journal.charge(self._charge(mechanism, 1, key=key, label=label), self._caps)\n"
        ),
        tests=("tests/test_privacy_account.py",),
    ),
    Fault(
        name="account: adjacency not compared",
        file="privacy/mechanism.py",
        old="if self.adjacency is not None and self.adjacency is not adjacency:",
        new="if False:",
        tests=("tests/contracts/test_mechanisms.py::test_refuses_an_account_of_another_adjacency",),
    ),
    Fault(
        name="account: permit charges one use only",
        file="privacy/account.py",
        old="charge = self._charge(mechanism, times, delta=delta, key=key, label=label)",
        new="charge = self._charge(mechanism, 1, delta=delta, key=key, label=label)",
        tests=("tests/test_privacy_account.py",),
    ),
    Fault(
        name="account: permit gives one use more",
        file="privacy/account.py",
        old="if self.left < 1:",
        new="if self.left < 0:",
        tests=("tests/test_privacy_account.py",),
    ),
    Fault(
        name="account: child ignores its parent's limit",
        file="privacy/account.py",
        old='child._caps = (*self._caps, (f"{name}{place}/", cap))',
        new='child._caps = ((f"{name}{place}/", cap),)',
        tests=("tests/test_privacy_account.py",),
    ),
    Fault(
        name="account: of two runs with one key both values leave",
        file="privacy/account.py",
        old='if key is None and entry.state == "released":',
        new='if entry.state == "released":',
        tests=("tests/test_privacy_account.py",),
    ),
    Fault(
        name="currency: zCDP of the exponential mechanism used as Gaussian",
        file="privacy/bounded_range.py",
        old="    def renyi(self, order: float) -> float:",
        new=(
            "    def as_gdp(self) -> Fraction:\n"
            "        return 2 * self.as_zcdp()\n"
            "\n"
            "    def renyi(self, order: float) -> float:"
        ),
        tests=("tests/test_privacy_account.py",),
    ),
    Fault(
        name="currency: limit rounded away from privacy",
        file="privacy/currency.py",
        old="unsafe=high, safe=low))",
        new="unsafe=high, safe=low) * 1.0001)",
        tests=("tests/test_privacy_account.py",),
    ),
    Fault(
        name="cost: a component not compared",
        file="privacy/currency.py",
        old="            and self.failure <= limit.failure\n",
        new="",
        tests=("tests/test_privacy_account.py",),
    ),
    Fault(
        name="source: seed reused when none is given",
        file="noise/source.py",
        old="None if seed is None else np.random.Generator(np.random.PCG64(seed))",
        new="np.random.Generator(np.random.PCG64(0 if seed is None else seed))",
        tests=("tests/contracts/test_mechanisms.py::test_seeded_draws_repeat_and_secure_ones_do_not",),
    ),
    Fault(
        name="rounding: safe_side returns the unsafe end",
        file="privacy/rounding.py",
        old="    return safe\n",
        new="    return unsafe\n",
        tests=("tests/test_privacy_rounding.py",),
    ),
    Fault(
        name="rounded Gaussian: noise halved",
        file="noise/rounded_gaussian.py",
        old="return 0.5 - float(self.width) * ndtri(uniform / 2)",
        new="return 0.5 - float(self.width) * ndtri(uniform / 2) / 2",
        tests=("tests/test_noise_laws.py",),
    ),
    Fault(
        name="discrete Gaussian: proposals not rejected",
        file="noise/discrete_gaussian.py",
        old="accepted = proposals[_accepts(source, sigma, np.abs(proposals))]",
        new="accepted = proposals",
        tests=("tests/test_noise_laws.py",),
    ),
    Fault(
        name="ball: exponential instead of Gamma length",
        file="noise/ball.py",
        old="gamma(source, shape=dimension, size=1)",
        new="gamma(source, shape=1, size=1)",
        tests=("tests/test_noise_continuous.py",),
    ),
    Fault(
        name="journal: long totals rounded down",
        file="privacy/journal.py",
        old="Fraction(-((-amount.numerator << 1024) // amount.denominator), 1 << 1024)",
        new="Fraction((amount.numerator << 1024) // amount.denominator, 1 << 1024)",
        tests=("tests/test_ledger_journal.py",),
    ),
    Fault(
        name="composition: repeated curves counted once",
        file="privacy/composition.py",
        old="out[place] = (other, already + n)",
        new="out[place] = (other, already)",
        tests=("tests/test_privacy_compose.py", "tests/test_privacy_curves.py"),
    ),
    Fault(
        name="numeric: mass at infinity lost",
        file="privacy/numeric/discretise.py",
        old="infinity = min(1.0, (pair.infinity + float(p[-1])) * (1 + 8 * UNIT))",
        new="infinity = 0.0",
        tests=("tests/test_privacy_loss_distribution.py", "tests/test_privacy_compose.py"),
    ),
    Fault(
        name="numeric: error of the transform subtracted",
        file="privacy/numeric/fft_compose.py",
        old="np.maximum(s.masses + s.error, 0.0)",
        new="np.maximum(s.masses - s.error, 0.0)",
        tests=("tests/test_privacy_loss_distribution.py", "tests/test_privacy_compose.py"),
    ),
    Fault(
        name="numeric: only one direction of the neighbour relation",
        file="privacy/numeric/loss_sum.py",
        old="if other.chernoff(answer) > delta:",
        new="if other.chernoff(answer) < 0.0:",
        tests=("tests/test_privacy_loss_distribution.py", "tests/test_privacy_compose.py"),
    ),
    Fault(
        name="objective: the determinant forgotten",
        file="privacy/mechanisms/objective.py",
        old="return math.log1p(ratio) * (1.0 + 4e-16)",
        new="return 0.0",
        tests=("tests/test_learn_objective.py",),
    ),
    Fault(
        name="objective: strict linear term without its root of the dimension",
        file="privacy/mechanisms/objective.py",
        old="spread = root * as_written(self.scale) / grid.step",
        new="spread = as_written(self.scale) / grid.step",
        tests=("tests/test_learn_objective.py",),
    ),
    Fault(
        name="truncated Laplace: twice the width",
        file="noise/truncated_laplace.py",
        old="partial(exp_minus, magnitude / self.width)",
        new="partial(exp_minus, magnitude / (2 * self.width))",
        tests=("tests/test_noise_truncated_laplace.py",),
    ),
)

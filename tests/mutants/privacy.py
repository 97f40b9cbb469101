"""Planted faults in noise, curves, mechanisms and accounts."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="gaussian: noise halved",
        target="privacy:Gaussian.sample",
        old="sigma * (sensitivity + root * grid.step) / sensitivity",
        new="sigma / 2",
        tests=(
            "tests/contracts/test_mechanisms.py::test_example[Gaussian-strict-is_not_refuted]",
            "tests/privacy/mechanisms/test_mechanisms.py",
        ),
    ),
    Fault(
        name="laplace: noise halved",
        target="privacy:add_discrete_laplace",
        old="exact * (sensitivity + value.size * grid.step) / sensitivity",
        new="exact / 2",
        tests=("tests/privacy/mechanisms/test_mechanisms.py::test_laplace_noise_has_its_declared_scale",),
    ),
    Fault(
        name="exponential: factor 2 of non-monotone scores forgotten",
        target="privacy:Selection.on_grid",
        old="1 if self.monotone else 2",
        new="1",
        tests=(
            "tests/contracts/test_mechanisms.py::test_example[Exponential-strict-is_not_refuted]",
            "tests/privacy/mechanisms/test_mechanisms.py",
        ),
    ),
    Fault(
        name="grid: rounding of the centre not charged",
        target="privacy:Gaussian.sample",
        old="sigma * (sensitivity + root * grid.step) / sensitivity",
        new="sigma",
        tests=(
            "tests/privacy/mechanisms/test_mechanisms.py::test_strict_noise_pays_for_rounding_the_centre",
        ),
    ),
    Fault(
        name="vector Laplace: exponential instead of Gamma length",
        target="privacy:VectorLaplace.sample",
        old="root_above(value.size) * as_written(self.l2_sensitivity)",
        new="as_written(self.l2_sensitivity)",
        tests=(
            "tests/privacy/mechanisms/test_mechanisms.py::test_gamma_norm_noise_has_the_length_of_its_dimension",
        ),
    ),
    Fault(
        name="account: noise before charge",
        target="privacy:Account.release",
        old="entry = self.journal.charge(",
        new="mechanism.sample(checked, self.source)\nentry = self.journal.charge(",
        tests=(
            "tests/privacy/account/test_account.py::test_a_refused_charge_draws_nothing_and_changes_nothing",
        ),
    ),
    Fault(
        name="account: adjacency not compared",
        target="privacy:Mechanism.require_adjacency",
        old="self.adjacency is not None and self.adjacency is not adjacency",
        new="False",
        tests=(
            "tests/contracts/test_mechanisms.py::test_example[Gaussian-strict-refuses_an_account_of_another_adjacency]",
        ),
    ),
    Fault(
        name="account: permit charges one use only",
        target="privacy:Account.permit",
        old="self._charge(mechanism, times",
        new="self._charge(mechanism, 1",
        tests=("tests/privacy/account/test_account.py::test_a_permit_is_charged_at_once_and_ends",),
    ),
    Fault(
        name="account: permit gives one use more",
        target="privacy:Permit._count_one_use",
        old="self.left < 1",
        new="self.left < 0",
        tests=("tests/privacy/account/test_account.py::test_a_permit_is_charged_at_once_and_ends",),
    ),
    Fault(
        name="account: child ignores its parent's limit",
        target="privacy:Account._child",
        old='(*self._caps, (f"{name}{place}/", cap))',
        new='((f"{name}{place}/", cap),)',
        tests=("tests/privacy/account/test_account.py::test_a_share_is_stopped_by_its_parent",),
    ),
    Fault(
        name="account: of two runs with one key both values leave",
        target="privacy:Account.release",
        old='key is None and entry.state == "released"',
        new='entry.state == "released"',
        tests=("tests/privacy/account/test_account.py::test_of_two_runs_with_one_key_one_value_leaves",),
    ),
    Fault(
        name="currency: zCDP of the exponential mechanism used as Gaussian",
        target="privacy:BoundedRange.renyi",
        old="def renyi",
        new="def as_gdp(self) -> Fraction:\n    return 2 * self.as_zcdp()\n\ndef renyi",
        tests=(
            "tests/privacy/account/test_account.py::test_a_selection_costs_its_pure_conversion_in_gdp_never_an_eighth",
        ),
    ),
    Fault(
        name="currency: limit rounded away from privacy",
        target="privacy:_largest",
        old="unsafe=high, safe=low)",
        new="unsafe=high, safe=low) * 1.0001",
        tests=("tests/privacy/account/test_account.py::test_a_translated_limit_is_within_what_was_asked",),
    ),
    Fault(
        name="cost: a component not compared",
        target="privacy:Cost.fits",
        old="and self.failure <= limit.failure",
        new="",
        tests=(
            "tests/privacy/account/test_account.py::test_slack_is_refused_unless_the_limit_has_room_for_it",
        ),
    ),
    Fault(
        name="source: seed reused when none is given",
        target="noise:Source.__init__",
        old="None if seed is None else np.random.Generator(np.random.PCG64(seed))",
        new="np.random.Generator(np.random.PCG64(0 if seed is None else seed))",
        tests=(
            "tests/contracts/test_mechanisms.py::test_example[Gaussian-strict-seeded_draws_repeat_and_secure_ones_do_not]",
        ),
    ),
    Fault(
        name="rounding: safe_side returns the unsafe end",
        target="privacy:safe_side",
        old="return safe",
        new="return unsafe",
        tests=("tests/privacy/test_rounding.py::test_safe_side_is_safe_and_tight",),
    ),
    Fault(
        name="rounded Gaussian: noise halved",
        target="noise:_Rounded.position",
        old="ndtri(uniform / 2)",
        new="ndtri(uniform / 2) / 2",
        tests=("tests/noise/test_laws.py::test_draws_follow_the_exact_probabilities[0.2-rounded]",),
    ),
    Fault(
        name="discrete Gaussian: proposals not rejected",
        target="noise:discrete_gaussian",
        old="proposals[_accepts(source, sigma, np.abs(proposals))]",
        new="proposals",
        tests=("tests/noise/test_laws.py::test_draws_follow_the_exact_probabilities[0.2-gaussian]",),
    ),
    Fault(
        name="ball: exponential instead of Gamma length",
        target="noise:gamma_ball",
        old="shape=dimension",
        new="shape=1",
        tests=(
            "tests/noise/test_idealised.py::test_the_vector_has_a_gamma_length_and_a_uniform_direction[2]",
        ),
    ),
    Fault(
        name="journal: long totals rounded down",
        target="privacy:_short",
        old="Fraction(-((-amount.numerator << 1024) // amount.denominator), 1 << 1024)",
        new="Fraction((amount.numerator << 1024) // amount.denominator, 1 << 1024)",
        tests=(
            "tests/ledger/test_journal.py::test_totals_of_many_denominators_stay_short_and_never_round_down",
        ),
    ),
    Fault(
        name="composition: repeated curves counted once",
        target="privacy/composition:_merged",
        old="already + n",
        new="already",
        tests=("tests/privacy/curves/test_composition.py::test_n_times_one_is_one_times_n",),
    ),
    Fault(
        name="numeric: mass at infinity lost",
        target="privacy:upper",
        old="min(1.0, (pair.infinity + float(p[-1])) * (1 + 8 * UNIT))",
        new="0.0",
        tests=(
            "tests/privacy/curves/test_loss_distribution.py::test_randomised_response_against_the_binomial_sum",
        ),
    ),
    Fault(
        name="numeric: error of the transform subtracted",
        target="privacy:_joined",
        old="s.masses + s.error",
        new="s.masses - s.error",
        tests=(
            "tests/privacy/curves/test_loss_distribution.py::test_composed_gaussians_are_bracketed_at_every_delta",
        ),
    ),
    Fault(
        name="numeric: only one direction of the neighbour relation",
        target="privacy:LossSums.epsilon",
        old="other.chernoff(answer) > delta",
        new="other.chernoff(answer) < 0.0",
        tests=("tests/privacy/curves/test_composition.py::test_the_order_of_the_directions_does_not_matter",),
    ),
    Fault(
        name="objective: the determinant forgotten",
        target="privacy:_Perturbed.log_ratio",
        old="math.log1p(ratio) * (1.0 + 4e-16)",
        new="0.0",
        tests=("tests/learn/methods/test_objective.py::test_the_pure_example_of_the_notes",),
    ),
    Fault(
        name="objective: strict linear term without its root of the dimension",
        target="privacy:PureObjectivePerturbation.linear_term",
        old="root * as_written(self.scale)",
        new="as_written(self.scale)",
        tests=("tests/learn/methods/test_objective.py::test_the_noise_is_as_large_as_the_theorem_says",),
    ),
    Fault(
        name="truncated Laplace: twice the width",
        target="noise:_Truncated.survival",
        old="magnitude / self.width",
        new="magnitude / (2 * self.width)",
        tests=("tests/noise/test_laplace.py::test_survival_is_the_exact_exponential",),
    ),
    Fault(
        name="permit: uses are counted without a lock",
        target="privacy:Permit._count_one_use",
        old="with self._lock:",
        new="if True:",
        tests=("tests/privacy/account/test_threads.py",),
    ),
    Fault(
        name="permit: a fork draws again",
        target="privacy:Permit._count_one_use",
        old="os.getpid() != self._process",
        new="False",
        tests=("tests/review/test_spending_findings.py",),
    ),
    Fault(
        name="permit: a use is counted before the value is looked at",
        target="privacy:Permit.release",
        old="checked = self.mechanism.check(value)",
        new="self.left += 1\nchecked = self.mechanism.check(value)\nself.left -= 1",
        tests=("tests/review/test_spending_findings.py",),
    ),
    Fault(
        name="journal: other charges come between check and charge",
        target="privacy:MemoryJournal.charge",
        old="with self._alone():",
        new="if self._alone():",
        tests=("tests/review/test_spending_findings.py",),
    ),
    Fault(
        name="journal: a fork spends the limit again",
        target="privacy:MemoryJournal._alone",
        old="os.getpid() != self._process",
        new="False",
        tests=("tests/review/test_spending_findings.py",),
    ),
    Fault(
        name="renyi account: one order of several is kept",
        target="privacy:RenyiCurrency.of",
        old="cls(listed.orders)",
        new="cls(listed.orders[len(listed.orders) // 2 :][:1])",
        tests=("tests/review/test_privacy_findings.py",),
    ),
    Fault(
        name="sampled pure: the neighbours of the base are not asked for",
        target="privacy:SubsampledPure.require_adjacency",
        old="self.base.require_adjacency(adjacency)",
        new="pass",
        tests=("tests/review/test_privacy_findings.py",),
    ),
    Fault(
        name="sampled pure: slack of the base is lost",
        target="privacy:SubsampledPure.validate",
        old="self.base.curve.total_variation or self.base.curve.failure",
        new="False",
        tests=("tests/review/test_privacy_findings.py",),
    ),
    Fault(
        name="grid: large quotients are rounded in doubles",
        target="privacy:nearest_steps",
        old="2.0**-51 * (size + 1.0)",
        new="-1.0",
        tests=("tests/privacy/test_rounding.py", "tests/review/test_privacy_findings.py"),
    ),
)

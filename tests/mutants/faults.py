"""The list of planted faults; each later piece of work adds its own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One fault: in a file under src/holdfast, `old` (which occurs once) becomes `new`."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


_MECHANISMS = "tests/contracts/test_mechanisms.py"
_ACCOUNT = "tests/test_privacy_account.py"

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="gaussian: noise halved",
        file="privacy/mechanisms/gaussian.py",
        old="enlarged = sigma * (sensitivity + root * grid.step) / sensitivity",
        new="enlarged = sigma / 2",
        tests=(f"{_MECHANISMS}::test_is_not_refuted", "tests/test_privacy_mechanisms.py"),
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
        tests=(f"{_MECHANISMS}::test_is_not_refuted", "tests/test_privacy_mechanisms.py"),
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
        new="        mechanism.sample(checked, self.source)\n"
        "        entry = self.journal.charge(self._charge(mechanism, 1, key=key, label=label), self._caps)\n",
        tests=(_ACCOUNT,),
    ),
    Fault(
        name="account: adjacency not compared",
        file="privacy/mechanism.py",
        old="if self.adjacency is not None and self.adjacency is not adjacency:",
        new="if False:",
        tests=(f"{_MECHANISMS}::test_refuses_an_account_of_another_adjacency",),
    ),
    Fault(
        name="account: permit charges one use only",
        file="privacy/account.py",
        old="charge = self._charge(mechanism, times, delta=delta, key=key, label=label)",
        new="charge = self._charge(mechanism, 1, delta=delta, key=key, label=label)",
        tests=(_ACCOUNT,),
    ),
    Fault(
        name="account: permit gives one use more",
        file="privacy/account.py",
        old="if self.left < 1:",
        new="if self.left < 0:",
        tests=(_ACCOUNT,),
    ),
    Fault(
        name="account: child ignores its parent's limit",
        file="privacy/account.py",
        old='child._caps = (*self._caps, (f"{name}{place}/", cap))',
        new='child._caps = ((f"{name}{place}/", cap),)',
        tests=(_ACCOUNT,),
    ),
    Fault(
        name="account: of two runs with one key both values leave",
        file="privacy/account.py",
        old='if key is None and entry.state == "released":',
        new='if entry.state == "released":',
        tests=(_ACCOUNT,),
    ),
    Fault(
        name="currency: zCDP of the exponential mechanism used as Gaussian",
        file="privacy/bounded_range.py",
        old="    def renyi(self, order: float) -> float:",
        new="    def as_gdp(self) -> Fraction:\n        return 2 * self.as_zcdp()\n\n"
        "    def renyi(self, order: float) -> float:",
        tests=(_ACCOUNT,),
    ),
    Fault(
        name="currency: limit rounded away from privacy",
        file="privacy/currency.py",
        old="unsafe=high, safe=low))",
        new="unsafe=high, safe=low) * 1.0001)",
        tests=(_ACCOUNT,),
    ),
    Fault(
        name="cost: a component not compared",
        file="privacy/currency.py",
        old="            and self.failure <= limit.failure\n",
        new="",
        tests=(_ACCOUNT,),
    ),
    Fault(
        name="source: seed reused when none is given",
        file="noise/source.py",
        old="None if seed is None else np.random.Generator(np.random.PCG64(seed))",
        new="np.random.Generator(np.random.PCG64(0 if seed is None else seed))",
        tests=(f"{_MECHANISMS}::test_seeded_draws_repeat_and_secure_ones_do_not",),
    ),
    Fault(
        name="rounding: safe_side returns the unsafe end",
        file="privacy/rounding.py",
        old="    return safe\n",
        new="    return unsafe\n",
        tests=("tests/test_privacy_rounding.py",),
    ),
    # Noise.
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
    # Kernel.
    Fault(
        name="kernel: a short batch divided by its own size (C)",
        file="kernel/sgd.c",
        old="rate = eta / (double)o->batch;",
        new="rate = eta / (double)s->rows;",
        tests=("tests/test_kernel.py::test_no_compiler_and_no_level_changes_a_bit",),
    ),
    Fault(
        name="kernel: a short batch divided by its own size (reference)",
        file="kernel/reference.py",
        old="rate = eta / options.batch",
        new="rate = eta / self._open_rows",
        tests=("tests/test_kernel.py::test_divisor_is_the_batch_also_when_it_is_short",),
    ),
    Fault(
        name="kernel: rows not clipped",
        file="kernel/reference.py",
        old="np.minimum(size, limit)",
        new="size",
        tests=("tests/test_kernel_sensitivity.py",),
    ),
    # Data.
    Fault(
        name="users: one row more than the bound",
        file="data/sql.py",
        old="WHERE slot <= {unit.max_rows}",
        new="WHERE slot <= {unit.max_rows + 1}",
        tests=("tests/contracts/test_engines.py",),
    ),
    Fault(
        name="users: L2 sensitivity of counts grows with the root",
        file="data/sensitivity.py",
        old="rows = unit.max_rows if distinct_cells else unit.max_rows**2",
        new="rows = unit.max_rows",
        tests=("tests/test_data_sensitivity.py",),
    ),
    Fault(
        name="order: a key that is not fresh",
        file="data/order.py",
        old="return Shuffled(key=source.bytes(KEY_BYTES), ",
        new="return Shuffled(key=bytes(KEY_BYTES), ",
        tests=("tests/contracts/test_engines.py",),
    ),
    Fault(
        name="encode: rows clipped to twice the norm",
        file="data/encode.py",
        old="too_long = relative > row_norm / size",
        new="too_long = relative > 2 * row_norm / size",
        tests=("tests/test_data_encode.py",),
    ),
    # Release and ledger.
    Fault(
        name="ledger: twice the limit",
        file="ledger/journal.py",
        old='caps = (("", self._limit), *',
        new='caps = (("", self._limit.scaled(Fraction(2))), *',
        tests=("tests/test_ledger.py",),
    ),
    Fault(
        name="ledger: open accounts hold only what they spent",
        file="ledger/dataset.py",
        old='chain.entry(opened).body["amount"] if closed is None',
        new='chain.total(name, "") or ["0", "0", "0"] if closed is None',
        tests=("tests/test_ledger.py",),
    ),
    Fault(
        name="journal: long totals rounded down",
        file="privacy/journal.py",
        old="Fraction(-((-amount.numerator << 1024) // amount.denominator), 1 << 1024)",
        new="Fraction((amount.numerator << 1024) // amount.denominator, 1 << 1024)",
        tests=("tests/test_ledger_journal.py",),
    ),
    Fault(
        name="release: one seeded charge overlooked",
        file="release/release.py",
        old=' or any(e.charge.noise == "seeded" for e in paid)',
        new="",
        tests=("tests/test_release.py",),
    ),
    # Accounting.
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
    # Audits.
    Fault(
        name="audit: delta of one canary only",
        file="audit/program.py",
        old="math.log(canaries * delta) + math.log(tail)",
        new="math.log(delta) + math.log(tail)",
        tests=("tests/test_audit_program.py",),
    ),
    Fault(
        name="audit: the path pays delta once",
        file="audit/path.py",
        old="beta = one_run.error_of(confidence) - canaries * delta",
        new="beta = one_run.error_of(confidence) - delta",
        tests=("tests/test_audit_path.py",),
    ),
    Fault(
        name="audit: f-DP recursion off by one",
        file="audit/fdp.py",
        old="right += i / (r - i) * (needed - wrong)",
        new="right += (i + 1) / (r - i) * (needed - wrong)",
        tests=("tests/test_audit_fdp.py",),
    ),
    Fault(
        name="audit: foreign coins refute",
        file="audit/evidence.py",
        old='return "refuted" if self.coins == "holdfast" and self.valid else "warning"',
        new='return "refuted"',
        tests=("tests/test_audit_evidence.py",),
    ),
    Fault(
        name="audit: replaced records stay in",
        file="audit/planting.py",
        old="absent = -1.0 if self.adjacency is Adjacency.replace else 0.0",
        new="absent = 0.0",
        tests=("tests/test_audit_planting.py",),
    ),
    Fault(
        name="bolt-on: sensitivity divided by the batch",
        file="kernel/sensitivity.py",
        old="moved = gradient_change * eta / batch * _damping(factor, averaging_weights)",
        new="moved = gradient_change * eta / batch**2 * _damping(factor, averaging_weights)",
        tests=("tests/test_kernel_psgd_sensitivity.py",),
    ),
    Fault(
        name="refute: events chosen on the draws that test them",
        file="audit/worlds.py",
        old="    test = binned(without[half:]), binned(present[other_half:])",
        new="    test = pilot",
        tests=("tests/test_audit_worlds.py",),
    ),
    Fault(
        name="refute: error not shared among the trials",
        file="audit/refute.py",
        old="share = false_alarm / max(chances, 1)",
        new="share = false_alarm",
        tests=("tests/test_audit_refute.py",),
    ),
    Fault(
        name="canaries: unfair coins",
        file="audit/canaries/design.py",
        old="p=Fraction(1, 2), size=count",
        new="p=Fraction(9, 20), size=count",
        tests=("tests/test_audit_canaries.py",),
    ),
    Fault(
        name="decoder: wrong prior variance",
        file="audit/decoder.py",
        old="shift = 4.0 * noise_std**2",
        new="shift = 2.0 * noise_std**2",
        tests=("tests/test_audit_decoder.py",),
    ),
    Fault(
        name="simulator: a degree of freedom too many",
        file="audit/gaussian_sum.py",
        old="chisquare(self.dimension - inside)",
        new="chisquare(self.dimension - inside + 1)",
        tests=("tests/test_audit_gaussian_sum.py",),
    ),
    # Learning.
    Fault(
        name="output: the solver's error not charged",
        file="learn/methods/output.py",
        old="return (exact + 2.0 * within) * (1.0 + 1e-12)",
        new="return exact * (1.0 + 1e-12)",
        tests=("tests/test_learn_output.py",),
    ),
    Fault(
        name="bolt-on: a pushed-out record forgotten",
        file="learn/methods/bolt_on.py",
        old="if ranked else 2.0 * problem.lipschitz",
        new="if ranked else problem.lipschitz",
        tests=("tests/test_learn_bolt_on.py",),
    ),
    Fault(
        name="objective: the determinant forgotten",
        file="privacy/mechanisms/objective.py",
        old="return math.log1p(ratio) * (1.0 + 4e-16)",
        new="return 0.0",
        tests=("tests/test_learn_objective.py",),
    ),
    Fault(
        name="scs13: passes not composed",
        file="learn/methods/scs13.py",
        old="l2_sensitivity * math.sqrt(passes) * (1 + 1e-15)",
        new="l2_sensitivity",
        tests=("tests/test_learn_scs13.py",),
    ),
    Fault(
        name="ridge: replaced once, moved once",
        file="learn/methods/ridge.py",
        old="steps = adjacency.gradient_factor * rows_per_unit",
        new="steps = rows_per_unit",
        tests=("tests/test_learn_ridge.py",),
    ),
    Fault(
        name="adassp: sensitivity 1 under replace",
        file="learn/methods/adassp.py",
        old="gram=math.sqrt(factor) * square,",
        new="gram=square,",
        tests=("tests/test_learn_adassp.py",),
    ),
    Fault(
        name="Frank-Wolfe: slope of the squared loss as O(1)",
        file="learn/methods/frank_wolfe.py",
        old="slope = prediction + loss.target_bound if",
        new="slope = loss.target_bound if",
        tests=("tests/test_learn_frank_wolfe.py",),
    ),
    Fault(
        name="functional: L2 in place of L1 sensitivity",
        file="learn/methods/functional.py",
        old="return abs(self.linear) * math.sqrt(dimension) + self.square * dimension",
        new="return abs(self.linear) + self.square",
        tests=("tests/test_learn_functional.py",),
    ),
    Fault(
        name="bst14: iota of one record only",
        file="learn/methods/bst14.py",
        old="iota = 2.0 * problem.lipschitz",
        new="iota = problem.lipschitz",
        tests=("tests/test_learn_bst14.py",),
    ),
    Fault(
        name="tuning: monotone scores assumed",
        file="learn/tuning.py",
        old="monotone = account.adjacency is not Adjacency.replace",
        new="monotone = True",
        tests=("tests/test_learn_tuning.py",),
    ),
    Fault(
        name="random stopping: repetitions for free",
        file="learn/random_stopping.py",
        old="return total / (2 + as_written(self.eta))",
        new="return total",
        tests=("tests/test_learn_tuning.py",),
    ),
    Fault(
        name="softmax: slope of the logistic loss",
        file="learn/softmax.py",
        old="slope: float = math.sqrt(2.0)",
        new="slope: float = 1.0",
        tests=("tests/test_learn_softmax.py",),
    ),
    Fault(
        name="second moment: sensitivity 1 under replace",
        file="learn/second_moment.py",
        old="return math.sqrt(adjacency.gradient_factor) * rows_per_unit * row_norm**2",
        new="return rows_per_unit * row_norm**2",
        tests=("tests/test_learn_second_moment.py",),
    ),
    Fault(
        name="noisy GD: rows clipped before whitening only",
        file="learn/methods/noisy_gd.py",
        old="self.norm / np.maximum(self.whitening.norms(rows), self.norm)",
        new="self.norm / np.maximum(np.linalg.norm(rows, axis=1), self.norm)",
        tests=("tests/test_learn_noisy_gd.py",),
    ),
    Fault(
        name="noisy GD: replaced once, moved once",
        file="learn/methods/noisy_gd.py",
        old="moved = adjacency.gradient_factor * rows_per_unit * self.norm",
        new="moved = rows_per_unit * self.norm",
        tests=("tests/test_learn_noisy_gd.py",),
    ),
    Fault(
        name="DP-SGD: gradients not clipped",
        file="learn/methods/dp_sgd.py",
        old="(slopes * (self.clip / np.maximum(lengths, self.clip)))",
        new="slopes",
        tests=("tests/test_learn_dp_sgd.py",),
    ),
    Fault(
        name="design: the constant column not counted in the norm",
        file="learn/design.py",
        old="math.nextafter(math.hypot(row_norm, constant), math.inf) if constant else row_norm",
        new="row_norm",
        tests=("tests/test_learn_design.py",),
    ),
    Fault(
        name="estimators: delta of one record in clear accepted",
        file="learn/opening.py",
        old="delta * public_count < 1,",
        new="delta < 1,",
        tests=("tests/test_learn_estimators.py",),
    ),
    Fault(
        name="estimators: what fit read is not said",
        file="learn/estimator.py",
        old="assumptions=(*prepared.assumptions, *fit.assumptions)",
        new="assumptions=fit.assumptions",
        tests=("tests/test_learn_estimators.py",),
    ),
    Fault(
        name="tables: storage order in place of a shuffle",
        file="learn/table_examples.py",
        old="return self._read(Order.shuffled(source))",
        new="return self._read(Order.irrelevant())",
        tests=("tests/test_learn_table_examples.py",),
    ),
)

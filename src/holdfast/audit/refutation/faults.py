"""FAULTS: mistakes that are planted in shipped code, each of which some trial must see.

One or more for every method, and for every kind of trial: sensitivities and results (replay), noise (freshness), secret
coins (sampling). Each names its function, and the subjects that it breaks.
"""

from __future__ import annotations

from holdfast.audit.refutation.game_faults import GAME_FAULTS
from holdfast.audit.refutation.learner_faults import LEARNER_FAULTS
from holdfast.audit.refutation.noise_faults import NOISE_FAULTS
from holdfast.audit.refutation.planting import PlantedFault
from holdfast.audit.refutation.step_faults import STEP_FAULTS

ACCOUNT, NOISE = "privacy.account.account", "noise"
DESCENT, ROWS = "learn.risk.descent", "learn.rows"
LEARN, SYNTH, TUNING = "learn.methods", "synth.methods", "learn.tuning"


def _fault(
    name: str, target: str, old: str, new: str, why: str, *subjects: str, test: str = "replay"
) -> PlantedFault:
    return PlantedFault(name=name, target=target, old=old, new=new, why=why, subjects=subjects, test=test)


FAULTS: tuple[PlantedFault, ...] = (
    # Noise: fresh, and of its law.
    _fault(
        "permit_reuses_its_first_noise", f"{ACCOUNT}:Permit.release",
        "noisy = _draw(self._account, self.mechanism, checked, self._source)",
        "first = self.__dict__.get('_first')\n"
        "draw = lambda: _draw(self._account, self.mechanism, checked, self._source)\n"
        "noisy = draw() if first is None else checked + first\n"
        "self._first = noisy - checked",
        "all uses of a permit get the noise of the first", "noisy_gd replace",
    ),
    _fault(
        "fixed_noise_seed", f"{ACCOUNT}:_draw",
        "return source.drawn(account, mechanism, checked)",
        "source._noise = Source(7)\nreturn source.drawn(account, mechanism, checked)",
        "every draw has the same noise (TensorFlow Privacy's bolt-on optimiser fixes a seed)", "noisy_gd replace",
        test="freshness",
    ),
    _fault(
        "noisy_gd_one_noise_for_all_rounds", f"{DESCENT}:noisy_descent", "noisy = permit.release(gradient(weights))",
        "exact = gradient(weights)\n"
        "kept = permit.release(exact) - exact if number == 0 else kept\n"
        "noisy = exact + kept",
        "one noise vector is drawn and added in every round", "noisy_gd add_remove",
    ),
    _fault(
        "dp_sgd_one_noise_for_all_rounds", f"{DESCENT}:noisy_descent", "noisy = permit.release(gradient(weights))",
        "exact = gradient(weights)\n"
        "kept = permit.release(exact) - exact if number == 0 else kept\n"
        "noisy = exact + kept",
        "one noise vector is drawn and added in every round", "dp_sgd zero_out",
    ),
    _fault(
        "gaussian_sampler_too_quiet", f"{NOISE}.gaussian:rounded_gaussian", 'width("sigma", sigma)',
        'width("sigma", sigma * 10 / 13)', "exact normal noise divided by 1.3",
        "Gaussian(sigma=1.0", "noisy_gd replace",
        test="freshness",
    ),
    _fault(
        "laplace_sampler_too_quiet", f"{NOISE}.laplace:discrete_laplace", 'width("scale", scale)',
        'width("scale", scale * 10 / 13)', "exact Laplace noise divided by 1.3", "Laplace(scale=1.0",
        test="freshness",
    ),
    _fault(
        "gaussian_one_number_for_all", "privacy.mechanisms.gaussian:Gaussian.sample",
        "steps = rounded_gaussian(source, sigma=sigma, size=value.size).reshape(value.shape)",
        "steps = np.repeat(rounded_gaussian(source, sigma=sigma, size=1), value.size).reshape(value.shape)",
        "one number is added to every coordinate: differences are released without noise", "Gaussian(sigma=1.0",
        test="freshness",
    ),
    _fault(
        "noisy_max_half_scale", "privacy.mechanisms.selection:Selection._weight", "1 if self.monotone else 2",
        "1", "the exponential mechanism without the 2 of scores that move both ways", "Exponential(epsilon=1.0",
        test="law",
    ),
    _fault(
        "exponential_length", f"{NOISE}.idealised:gamma_ball", "shape=dimension", "shape=1",
        "vector noise with an exponential instead of a Gamma length", "VectorLaplace",
        test="law",
    ),
    # Learning methods: sensitivities.
    _fault(
        "noisy_gd_replace_counts_once", f"{DESCENT}:ClippedGradients.l2_sensitivity", "adjacency.gradient_factor *", "",
        "a replaced record moves the gradient by twice the bound, and once is charged", "noisy_gd replace",
    ),
    _fault(
        "softmax_replace_counts_once", f"{DESCENT}:ClippedGradients.l2_sensitivity", "adjacency.gradient_factor *", "",
        "the same for several classes", "softmax replace",
    ),
    _fault(
        "noisy_gd_users_count_once", f"{DESCENT}:ClippedGradients.l2_sensitivity", "rows_per_unit *", "",
        "a user of several rows counts as one row", "noisy_gd zero_out",
    ),
    _fault(
        "no_clip_after_whitening", f"{DESCENT}:ClippedGradients._measured",
        "self.whitening.norms(rows) + self._doubt", "np.zeros(len(rows))",
        "rows are whitened and their gradients not clipped", "noisy_gd replace",
    ),
    _fault(
        "division_by_private_n", f"{DESCENT}:ClippedGradients.at", "total += slopes.T @ rows",
        "total += slopes.T @ rows * (12.0 / max(1, len(rows)))",
        "the gradient is divided by the true number of rows, not by the public one", "noisy_gd add_remove",
    ),
    _fault(
        "second_moment_halved", "learn.whitening:second_moment_sensitivity", "rows_per_unit * row_norm**2",
        "rows_per_unit * row_norm**2 / 2", "half the sensitivity of the second moment", "noisy_gd zero_out",
    ),
    _fault(
        "output_sensitivity_halved", f"{LEARN}.output:minimiser_sensitivity",
        "exact = problem.gradient_change(adjacency)", "exact = 0.5 * problem.gradient_change(adjacency)",
        "G / (2 penalty n) instead of G / (penalty n)", "output replace",
    ),
    _fault(
        "output_result_unnoised", f"{LEARN}.output:output_perturbation", "weights=at.restored(weights),",
        "weights=weights + 1e-9 * centre,",
        "a trace of the exact minimiser is added to what is returned", "output add_remove",
    ),
    _fault(
        "bolt_on_divided_by_batch", f"{LEARN}.bolt_on:Pass.l2_sensitivity", "return moved + rounded",
        "return moved / self.batch + rounded",
        "sensitivity 2L/(penalty m b), as Wu 2016 prints and TensorFlow Privacy ships; the b does not belong",
        "bolt_on replace",
    ),
    _fault(
        "bolt_on_overfull_batches", f"{LEARN}.bolt_on:gradient_change", "2.0 * problem.lipschitz",
        "0.5 * problem.lipschitz", "one record more may push another out of its batch, which is not counted",
        "bolt_on add_remove",
    ),
    _fault(
        "bst14_half_the_change", f"{LEARN}.bst14:noise_for", "2.0 * problem.lipschitz", "1.0 * problem.lipschitz",
        "replacing a record of the batch moves the sum by 2 L", "bst14 replace",
    ),
    _fault(
        "bst14_blank_counts_once", f"{LEARN}.bst14:noise_for", "iota = 2.0 * problem.lipschitz",
        "iota = (2.0 if account.adjacency.value == 'replace' else 1.0) * problem.lipschitz",
        "a blanked record of a fixed batch moves the sum by L; the proof exchanges it for another, which moves 2 L",
        "bst14 zero_out",
    ),
    _fault(
        "dp_sgd_half_the_clip", f"{LEARN}.dp_sgd:Sgd.l2_sensitivity", "return self.clip *", "return 0.5 * self.clip *",
        "half of the norm to which gradients are clipped", "dp_sgd add_remove",
    ),
    _fault(
        "frank_wolfe_replace_counts_once", f"{LEARN}.frank_wolfe_sampling:FrankWolfeBounds.score_change",
        "adjacency.gradient_factor *", "", "two rows differ under replace, one is counted", "frank_wolfe replace",
    ),
    _fault(
        "functional_root_forgotten", f"{LEARN}.functional:Quadratic.one_row", "math.sqrt(dimension)", "1.0",
        "|x|_1 taken for 1 where it is sqrt(d)", "functional zero_out",
    ),
    _fault(
        "functional_replace_counts_once", f"{LEARN}.functional:Quadratic.l1_sensitivity",
        "self.exchanged if adjacency.gradient_factor == 2 else self.one_row", "self.one_row",
        "two rows differ under replace, one is counted", "functional replace",
    ),
    _fault(
        "functional_rows_opposite", f"{LEARN}.functional:Quadratic.exchanged", "sine = (", "sine = 0.25 * (",
        "the angle at which two rows do their worst is taken for a smaller one", "functional replace",
    ),
    _fault(
        "objective_replace_counts_once", "privacy.mechanisms.objective:_Perturbed._records",
        "2 if self.adjacency in (None, Adjacency.replace) else 1", "1", "G = L under replace", "objective replace",
    ),
    _fault(
        "objective_determinant_forgotten", "privacy.mechanisms.objective:_Perturbed.log_determinants",
        "math.log1p(ratio)", "0.01 * math.log1p(ratio)", "the determinants' share of epsilon is left out",
        "objective add_remove",
    ),
    _fault(
        "adassp_cross_counts_once", f"{LEARN}.adassp:Statistics.of", "cross=factor *", "cross=0.5 *",
        "X^T y is scaled to less than one record moves it by", "adassp zero_out",
    ),
    _fault(
        "adassp_three_count_as_two", f"{LEARN}.adassp:Statistics.of",
        "9.0 / (4.0 * math.sqrt(2.0)) if factor == 2", "math.sqrt(2.0) if factor == 2",
        "the three statistics are taken to move as two", "adassp replace",
    ),
    _fault("ssp_targets_for_free", f"{LEARN}.ssp:ssp", "math.sqrt(2.0) * problem.norm_bound", "problem.norm_bound",
           "targets enter the joint moment and not its sensitivity", "ssp replace"),
    _fault("newton_moves_half", f"{LEARN}.newton:JointScore.of", "factor * rows_per_unit", "0.5 * rows_per_unit",
           "a row moves the gradient by more than is charged", "newton replace"),
    _fault(
        "ridge_residual_from_data", f"{LEARN}.ridge:RidgeBounds.residual",
        "self.target_bound + self.row_norm * self.weight_norm", "0.25 * self.target_bound",
        "the residual is bounded by what is usual instead of by what is possible", "ridge replace", "ridge zero_out",
    ),
    _fault(
        "scs13_batch_in_every_step", f"{LEARN}.scs13:_batches",
        "yield from cut(examples.shuffled(source), sizes, dimension=examples.dimension)",
        "yield from (next(cut(examples.shuffled(source), sizes[:1], dimension=examples.dimension)) for _ in sizes)",
        "every batch is drawn from all rows, at the price of disjoint ones", "scs13 replace",
    ),
    _fault(
        "short_batch_own_size", f"{LEARN}.scs13:scs13", "gradient_sum(problem, w, chunk) / batch",
        "gradient_sum(problem, w, chunk) / max(1, len(chunk[1]))",
        "a short last batch is averaged over its own size (Wu 2016, b does not divide m)", "scs13 replace",
    ),
    _fault(
        "scs13_half_the_change", f"{LEARN}.scs13:scs13", "problem.gradient_change(account.adjacency) / batch",
        "problem.gradient_change(account.adjacency) / (2 * batch)", "half the sensitivity of an averaged gradient",
        "scs13 add_remove",
    ),
    # Sampling.
    _fault(
        "fixed_batches_at_the_poisson_price", f"{ROWS}.batches:poisson_sample",
        "bernoulli(source, p=rate, size=labels.size, records=records)",
        "permutation(source, labels.size) < round(float(rate) * labels.size)",
        "batches of fixed size at the price of a Poisson sample", "dp_sgd zero_out",
        test="sampling",
    ),
    _fault(
        "rows_drawn_too_often", f"{ROWS}.batches:poisson_sample", "p=rate,", "p=min(Fraction(1), rate * 2),",
        "rows are drawn with twice the rate that is paid for", "dp_sgd zero_out",
        test="sampling",
    ),
    _fault(
        "frank_wolfe_rows_drawn_too_often", f"{ROWS}.batches:poisson_sample", "p=rate,",
        "p=min(Fraction(1), rate * 2),", "rows are drawn with twice the rate that is paid for", "frank_wolfe zero_out",
        test="sampling",
    ),
    _fault(
        "one_batch_for_all_steps", f"{ROWS}.batches:poisson_sample", "bernoulli(source,", "bernoulli(Source(3),",
        "the same rows are drawn in every step", "dp_sgd zero_out",
        test="sampling",
    ),
    _fault(
        "bst14_first_rows_only", f"{LEARN}.bst14:without_replacement", "bound=population,", "bound=population - 2,",
        "two rows are never drawn, the others too often", "bst14 zero_out",
        test="sampling",
    ),
    # What is made of methods.
    _fault(
        "parts_overlap", f"{ROWS}.batches:partition",
        "features=features[part == number], labels=labels[part == number],",
        "features=features[part <= number], labels=labels[part <= number],",
        "a row is in its part and in all later ones", "tuning choose_on_parts replace",
    ),
    _fault(
        "score_halved", f"{TUNING}.candidates:score_change", "score.bound / count", "0.5 * score.bound / count",
        "half of how far one row moves a mean score", "tuning choose_by_random_stopping replace",
    ),
    _fault(
        "best_exact_score_wins", f"{TUNING}.candidates:_Runs.one",
        "return float(scoring.release(noise.mechanism, np.array([error]))[0]), fit",
        "scoring.release(noise.mechanism, np.array([error]))\nreturn float(error), fit",
        "the best of the exact scores is released", "tuning choose_by_random_stopping replace",
    ),
    _fault(
        "search_parts_overlap", f"{ROWS}.batches:partition",
        "features=features[part == number], labels=labels[part == number],",
        "features=features[part <= number], labels=labels[part <= number],",
        "the same where an estimator is searched for", "search parts",
    ),
    _fault(
        "search_score_halved", f"{TUNING}.candidates:score_change", "score.bound / count", "0.5 * score.bound / count",
        "half of how far one row moves a mean score", "search random_stopping",
    ),
    _fault(
        "estimator_replace_counts_once", "privacy.mechanisms.objective:_Perturbed._records",
        "2 if self.adjacency in (None, Adjacency.replace) else 1", "1", "G = L under replace", "estimator auto",
    ),
    # Data.
    _fault(
        "counts_root_forgotten", "data.sensitivity:counts_l2", "rows * marginals", "rows",
        "sqrt(G) of G tables forgotten", "independent replace", "data counts replace",
    ),
    _fault(
        "sum_replace_counts_once", "data.sensitivity:sum_l2", "Adjacency.of(adjacency).gradient_factor *", "",
        "a replaced row moves a sum by twice its norm", "data sums replace",
    ),
    _fault(
        "users_keep_too_many_rows", "data.bounded_users:keep_rows", "kept = slot <= max_rows",
        "kept = slot <= 2 * max_rows",
        "twice the declared rows of a user are kept", "data counts add_remove",
    ),
    # Synthesisers and their certificates.
    _fault(
        "mwem_answers_halved", f"{SYNTH}.mwem:answer_noise", "reach, adjacency = SCORE_SENSITIVITY,",
        "reach, adjacency = 0.5 * SCORE_SENSITIVITY,", "half the noise on answers", "mwem replace",
    ),
    _fault(
        "fem_selection_halved", f"{SYNTH}.fem:play", "sensitivity=SCORE_SENSITIVITY", "sensitivity=0.5",
        "half the sensitivity of a selection", "fem replace",
    ),
    _fault(
        "sep_fem_selection_halved", f"{SYNTH}.fem:play", "sensitivity=SCORE_SENSITIVITY", "sensitivity=0.5",
        "the same over separator sets", "sep_fem replace",
    ),
    _fault(
        "dual_query_past_forgotten", f"{SYNTH}.dual_query:draw", "past * SCORE_SENSITIVITY", "SCORE_SENSITIVITY",
        "payoffs of all past rounds move, one is counted", "dual_query replace",
    ),
    _fault(
        "dqrs_past_forgotten", f"{SYNTH}.dual_query:draw", "past * SCORE_SENSITIVITY", "SCORE_SENSITIVITY",
        "the same where queries are kept and redrawn", "dqrs replace",
    ),
    _fault(
        "tree_edges_count_once", f"{SYNTH}.tree:_spanning_edges", "counts_l1(data.adjacency, data.unit)", "1.0",
        "an edge's score moves by 2 under replace", "tree replace",
    ),
    _fault(
        "adaptive_weights_forgotten", f"{SYNTH}.adaptive:_Run._select", "max(self.weights.values()) *", "0.4 *",
        "the largest weight of a score is left out",
        "adaptive replace",
    ),
    _fault(
        "frank_wolfe_dual_selection_halved", f"{SYNTH}.frank_wolfe_dual:frank_wolfe_dual",
        "sensitivity=SCORE_SENSITIVITY", "sensitivity=0.5", "half the sensitivity of a selection",
        "frank_wolfe_dual replace",
    ),
    _fault(
        "gaussian_synthesis_halved", f"{SYNTH}.residuals:l2_sensitivity",
        "return strategy.sensitivity(data.adjacency, data.unit) + rounding",
        "return strategy.sensitivity(data.adjacency, data.unit) / 2 + rounding", "half the sensitivity of residuals",
        "gaussian replace",
    ),
    _fault(
        "certificate_counts_one_row", "synth.certificate:certificate_noise", "each = max_rows + ARITHMETIC",
        "each = 1 + ARITHMETIC", "the largest error moves by a user's rows, not by one", "independent add_remove",
    ),
    _fault(
        "model_sees_exact_counts", f"{SYNTH}.independent:independent", "np.split(noisy, borders)",
        "np.split(exact, borders)",
        "the model is made of exact counts", "independent replace",
    ),
    *GAME_FAULTS,
    # A density, and additive models.
    _fault(
        "gibbs_half_the_change", f"{LEARN}.gibbs:_Recipe.__init__", 
        "problem.gradient_change(account.adjacency) / count",
        "problem.gradient_change(account.adjacency) / (2 * count)", "half of what one record changes in the density",
        "gibbs replace",
    ),
    _fault(
        "additive_half_the_clip", "learn.additive.descent:gradient_sensitivity", "sum_l2(clip * (1.0 + NORM_SLACK),",
        "sum_l2(0.5 * clip * (1.0 + NORM_SLACK),", "half of what a clipped gradient moves", "additive zero_out",
    ),
    _fault(
        "additive_histograms_as_one", "learn.additive.histograms:release_histograms", "marginals=marginals",
        "marginals=1", "all histograms at the price of one", "additive add_remove",
    ),
    # Prices.
    _fault(
        "gdp_limit_too_large", "privacy.account.currency:GaussianCurrency.translate",
        "_largest(GaussianDP, point) ** 2", "_largest(GaussianDP, point) ** 2 * Fraction(5, 4)",
        "an (epsilon, delta) limit becomes more GDP than it is", "noisy_gd replace", test="analysis",
    ),
    _fault(
        "zcdp_limit_too_large", "privacy.account.currency:ConcentratedCurrency.translate", "_largest(ZCDP, point)",
        "_largest(ZCDP, point) * Fraction(5, 4)", "an (epsilon, delta) limit becomes more zCDP than it is",
        "mwem replace", test="analysis",
    ),
    _fault(
        "renyi_limit_forgets_delta", "privacy.account.currency:RenyiCurrency._left", "offset * (1 +",
        "0.5 * offset * (1 +", "half of what delta costs at an order is forgotten", "dp_sgd zero_out",
        test="analysis",
    ),
    # Found by planting what nobody had listed.
    _fault(
        "ridge_users_count_once", f"{LEARN}.ridge:RidgeBounds.l2_sensitivity",
        "adjacency.gradient_factor * rows_per_unit", "adjacency.gradient_factor",
        "a user of several rows counts as one row", "ridge zero_out",
    ),
    _fault(
        "one_vs_all_counts_one_class", "learn.problem.losses:OneVsAll.slope", "math.sqrt(self.classes)", "1.0",
        "every row is in all K problems, and one is counted", "softmax zero_out",
    ),
    _fault(
        "squares_replace_counts_once", "learn.whitened_examples:moments_sensitivity", "adjacency.gradient_factor *",
        "", "a replaced row moves squares of two columns", "objective replace",
    ),
    _fault(
        "certificate_root_forgotten", "synth.certificate:certificate_noise",
        "each * math.nextafter(math.sqrt(maxima), math.inf)", "each",
        "sqrt(G) of G maxima forgotten", "adaptive replace",
    ),
    _fault(
        "rows_of_users_count_once", f"{SYNTH}.measure:noisy_rows", "counts_l2(data.adjacency, data.unit)", "1.0",
        "the number of rows moves by all rows of a user", "adaptive add_remove",
    ),
    _fault(
        "model_knows_the_exact_count", f"{SYNTH}.measure:total_of", "rows = data.public_rows",
        "rows = float(data(data.names[0]).sum())", "a private number of rows scales the model", "gaussian add_remove",
    ),
    _fault(
        "adaptive_columns_as_one", f"{SYNTH}.adaptive:_Run.measure_columns", "marginals=len(names)", "marginals=1",
        "all 1-way tables at the price of one", "adaptive replace",
    ),
    *STEP_FAULTS,
    # What methods share; noise, under every method.
    *LEARNER_FAULTS,
    *NOISE_FAULTS,
)  # fmt: skip

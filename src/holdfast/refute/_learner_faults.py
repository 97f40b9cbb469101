"""LEARNER_FAULTS: mistakes in code that several methods share, each tried on a method or statistic that relies on it.

They concern the slope of losses for several classes, the risks of the plain hinge and of weights in a ball, the
sensitivities of histograms and of their column scores, and the sensitivity of sums of functions of rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.refute._planting import PlantedFault

SEVERAL_CLASS_SUBJECTS = ("bolt_on replace", "bst14 replace", "output replace", "scs13 replace")
"""Methods that scale noise to the slope of the loss. Not dp_sgd, which clips gradients: there a wrong slope only makes
a worse model."""
SHARED_CODE_FAULTS = (
    (
        "hinge_divides_by_private_n",
        "learn._risk.hinge:HingeRisk.of",
        "share=1.0 / divisor",
        "share=1.0 / max(1, sum(map(len, parts)))",
        "the plain hinge risk is a mean over the true number of rows, not over the public one",
        "output add_remove",
    ),
    (
        "hinge_rows_not_clipped",
        "learn._risk.hinge:HingeRisk.of",
        "rows, labels = clip_chunk(chunk, problem)",
        "rows, labels = chunk",
        "rows reach the plain hinge as long as they came",
        "output replace",
    ),
    (
        "ball_forgets_its_radius",
        "learn._problem.losses:Squared.slope",
        "self.prediction_bound + self.target_bound",
        "self.target_bound",
        "gradients on a ball are counted as at its centre",
        "objective replace",
    ),
    (
        "ball_barrier_from_the_table",
        "learn.methods.objective:_perturbed_fit",
        "BARRIER * problem.radius *",
        "BARRIER * sum(float(abs(chunk[0]).sum()) for chunk in examples.chunks()) *",
        "the barrier that keeps to a ball has a weight made of rows",
        "objective zero_out",
    ),
    (
        "histogram_replace_counts_once",
        "learn.classics.projected_histogram:_count_noise",
        "counts_l2(near, examples.unit)",
        "1.0",
        "a replaced row leaves one cell and enters another",
        "projected_histogram replace",
    ),
    (
        "histogram_counts_blank_rows",
        "learn.classics.projected_histogram:HistogramCells.table",
        "rows.any(axis=1)",
        "np.ones(len(rows), dtype=bool)",
        "a blanked row leaves its cell for that of zeros, which is not counted",
        "projected_histogram zero_out",
    ),
    (
        "histogram_columns_of_users",
        "learn.classics.projected_histogram:score_sensitivity",
        "sum_l2(problem.norm_bound, account.adjacency, examples.unit)",
        "problem.norm_bound",
        "a user of several rows moves the score of a column by one row's length",
        "projected_histogram add_remove",
    ),
    (
        "classes_replace_counts_once",
        "learn._intercept_centre:release_shares",
        "counts_l1(account.adjacency, examples.unit)",
        "1.0",
        "a replaced row leaves one class and enters another",
        "objective replace",
    ),
    (
        "classes_count_blank_rows",
        "learn._intercept_centre:class_counts",
        "codes[rows.any(axis=1)]",
        "codes",
        "a blanked row leaves its class for that of its new label, which is not counted",
        "objective zero_out",
    ),
    (
        "centre_replace_counts_once",
        "learn._intercept_centre:release_target_mean",
        "account.adjacency.gradient_factor * ",
        "",
        "a replaced row takes one target away and brings another",
        "ridge replace",
    ),
    (
        "centre_targets_not_clipped",
        "learn._intercept_centre:label_sum",
        "np.clip(labels[rows.any(axis=1)], -bound, bound)",
        "3.0 * labels[rows.any(axis=1)]",
        "targets count for more in their mean than their bound",
        "ridge replace",
    ),
)


ROW_FUNCTION_FAULTS = (
    (
        "functions_of_users_count_once",
        "synth._workload.one_layer:OneLayer.l2_sensitivity",
        "1 if unit is None else unit.max_rows",
        "1",
        "a user of several rows moves sums of functions as one row does",
        "data functions add_remove",
    ),
    (
        "functions_one_for_all",
        "synth._workload.one_layer:OneLayer.l2_sensitivity",
        "np.sum(reach**2)",
        "np.max(reach**2)",
        "all functions at the price of one",
        "data functions replace",
    ),
    (
        "functions_above_one",
        "synth._workload.one_layer:OneLayer._steps",
        "np.clip(linear, 0, STEPS_OF_ONE)",
        "np.maximum(3 * linear, 0)",
        "values above 1, which move a certified maximum by more than 1",
        "data functions zero_out",
    ),
)


def learner_faults() -> Iterator[PlantedFault]:
    """A planted fault for each mistake and each subject that it breaks."""
    for subject in SEVERAL_CLASS_SUBJECTS:
        yield PlantedFault(
            name=f"one_vs_all_counts_one_class {subject}",
            target="learn._problem.losses:OneVsAll.slope",
            old="math.sqrt(self.classes)",
            new="1.0",
            why="every row is in all K problems, and one is counted",
            subjects=(subject,),
        )
    for name, target, old, new, why, subject in (*SHARED_CODE_FAULTS, *ROW_FUNCTION_FAULTS):
        yield PlantedFault(name=name, target=target, old=old, new=new, why=why, subjects=(subject,))


LEARNER_FAULTS = tuple(learner_faults())

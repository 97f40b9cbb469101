"""Planted faults in the evaluation of synthetic rows, and in accuracy against epsilon."""

from __future__ import annotations

from .fault import Fault

ROWS = "tests/synth/evaluation/"

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="evaluation: pairs inside a group are those of all rows",
        target="synth/evaluation:_pairs_inside",
        old="rows.codes[rows.code(by) == cell]",
        new="rows.codes",
        tests=("tests/synth/evaluation/test_prediction.py::test_subgroups_find_what_averages_hide",),
    ),
    Fault(
        name="evaluation: real rows looked at, and the report called public",
        target="synth:EvaluationReport.audience",
        old='"public" if self.against_real is None else "internal"',
        new='"public" if self.against_release is not None else "internal"',
        tests=(ROWS + "test_report.py::test_real_rows_make_it_internal",),
    ),
    Fault(
        name="evaluation: an internal report agrees to be public",
        target="synth:EvaluationReport.require_audience",
        old='audience == "public" and self.audience == "internal"',
        new="False",
        tests=(ROWS + "test_report.py::test_what_is_internal_refuses_to_be_public",),
    ),
    Fault(
        name="evaluation: any file is taken for the rows of the release",
        target="synth/against_release:_same",
        old="np.array_equal(table, own(columns)) for columns, table in rows.counts.items()",
        new="len(columns) == 0 or True for columns, table in rows.counts.items()",
        tests=(
            ROWS + "test_against_release.py::test_only_the_rows_of_the_release_are_spoken_of",
            "tests/cli/test_evaluate.py::test_real_rows_are_not_shown_as_synthetic_ones",
        ),
    ),
    Fault(
        name="evaluation: rows are the release's where single columns agree",
        target="synth/against_release:_same",
        old="for columns, table in rows.counts.items()",
        new="for columns, table in rows.counts.items() if len(columns) == 1",
        tests=(
            ROWS + "test_against_release.py::test_rows_with_the_same_columns_one_by_one_are_not_the_same",
        ),
    ),
    Fault(
        name="evaluation: other rows keep the certificate",
        target="synth:released_evidence",
        old="claim=None if assumption else claim",
        new="claim=claim",
        tests=(ROWS + "test_against_release.py::test_only_the_rows_of_the_release_are_spoken_of",),
    ),
    Fault(
        name="evaluation: what models said of single rows leaves",
        target="synth:plain",
        old="for one in fields(value) if one.repr",
        new="for one in fields(value)",
        tests=(ROWS + "test_report.py::test_nothing_about_single_rows_leaves",),
    ),
    Fault(
        name="evaluation: the page of real rows without its banner",
        target="synth:EvaluationReport.to_html",
        old="audience=self.require_audience(audience)",
        new='audience="public"',
        tests=(
            "tests/dossier/comparison/test_evaluation_page.py::test_an_internal_page_says_so_on_every_sheet",
        ),
    ),
    Fault(
        name="marginals: total variation counted twice",
        target="synth:marginal_error",
        old="total_variation=0.5 * float(np.abs(gap).sum())",
        new="total_variation=float(np.abs(gap).sum())",
        tests=(ROWS + "test_marginals.py::test_numbers_by_hand",),
    ),
    Fault(
        name="marginals: errors in rows, not in shares",
        target="synth:marginal_error",
        old="gap = shares(synthetic) - shares(real)",
        new="gap = (synthetic - real) / real.sum()",
        tests=(ROWS + "test_marginals.py::test_numbers_by_hand",),
    ),
    Fault(
        name="marginals: chance of one sample only",
        target="synth:chance_distance",
        old="(1.0 / first + 1.0 / second)",
        new="(1.0 / first)",
        tests=(ROWS + "test_marginals.py::test_chance_is_what_two_samples_show",),
    ),
    Fault(
        name="earth mover: gains and losses cancel",
        target="synth:earth_mover",
        old="np.abs(below[0] - below[1])[:-1]",
        new="(below[0] - below[1])[:-1]",
        tests=(ROWS + "test_marginals.py::test_what_moves_up_and_what_moves_down_do_not_cancel",),
    ),
    Fault(
        name="correlations: the sign is lost",
        target="synth/associations:_pearson",
        old="float(a @ weight @ b) / spread",
        new="abs(float(a @ weight @ b)) / spread",
        tests=(ROWS + "test_associations.py::test_pearson_is_numpys",),
    ),
    Fault(
        name="correlations: real minus synthetic",
        target="synth:Associations.differences",
        old="self.synthetic - self.real",
        new="self.real - self.synthetic",
        tests=(ROWS + "test_associations.py::test_differences_have_a_sign_and_an_order",),
    ),
    Fault(
        name="correlations: Cramer's V with its bias",
        target="synth/associations:_cramer",
        old="phi - (r - 1) * (c - 1) / (total - 1)",
        new="phi",
        tests=(ROWS + "test_associations.py::test_cramer_has_little_bias",),
    ),
    Fault(
        name="correlations: what cannot be computed differs most",
        target="synth:Associations.largest",
        old="np.where(np.isnan(self.differences), -1.0, np.abs(self.differences))",
        new="np.abs(np.where(np.isnan(self.differences), -1.0, self.differences))",
        tests=(ROWS + "test_associations.py::test_each_pair_has_its_measure",),
    ),
    Fault(
        name="prediction: a gain is called a loss",
        target="synth:predictions",
        old="_score(ours - theirs)",
        new="_score(theirs - ours)",
        tests=(ROWS + "test_prediction.py::test_good_rows_lose_little_and_shuffled_ones_all",),
    ),
    Fault(
        name="prediction: tested on the rows that were learnt",
        target="synth:predictions",
        old="train, test = real.take(order[:size]), real.take(order[half:][:MOST_TESTED])",
        new="train, test = real.take(order[:size]), synthetic.take(order[half:][:MOST_TESTED])",
        tests=(ROWS + "test_prediction.py::test_good_rows_lose_little_and_shuffled_ones_all",),
    ),
    Fault(
        name="subgroups: errors of the whole table in every group",
        target="synth/subgroups:_group",
        old="marginal_error([name], tables[0][cell], tables[1][cell], real.schema)",
        new="marginal_error([name], tables[0].sum(axis=0), tables[1].sum(axis=0), real.schema)",
        tests=(ROWS + "test_prediction.py::test_subgroups_find_what_averages_hide",),
    ),
    Fault(
        name="subgroups: no group is small",
        target="synth:SubgroupErrors.small",
        old="self.rows < SMALL",
        new="self.rows < 0",
        tests=(ROWS + "test_prediction.py::test_subgroups_find_what_averages_hide",),
    ),
    Fault(
        name="distances: members and those held out exchanged",
        target="synth:closest_records",
        old="np.where(ours == other, 0.5, ours < other)",
        new="np.where(ours == other, 0.5, ours > other)",
        tests=(ROWS + "test_distances.py::test_copied_rows_are_found",),
    ),
    Fault(
        name="propensity: the ratio without the number of parameters",
        target="synth/distances:_pmse",
        old="float(max(parameters, 1)) / (8.0 * len(labels))",
        new="1.0 / (8.0 * len(labels))",
        tests=(ROWS + "test_distances.py::test_equal_laws_cannot_be_told_apart_and_others_can",),
    ),
    Fault(
        name="release: the noise is said to be half as large",
        target="synth:Noise.mean",
        old="std * math.sqrt(2.0 / math.pi)",
        new="0.5 * std * math.sqrt(2.0 / math.pi)",
        tests=(ROWS + "test_against_release.py::test_the_noise_is_as_large_as_its_law_says",),
    ),
    Fault(
        name="rows: counts of the sample only",
        target="synth/compared_rows:_Counting.add",
        old="table += np.bincount(cells, minlength=table.size).reshape(table.shape)",
        new="table[...] = np.bincount(cells, minlength=table.size).reshape(table.shape)",
        tests=(ROWS + "test_compared_rows.py::test_a_sample_is_bounded_and_the_counts_are_of_all_rows",),
    ),
    Fault(
        name="which epsilon: the last one that reaches it",
        target="dossier/epsilons:_which",
        old="float(epsilons[reached[0]])",
        new="float(epsilons[reached[-1]])",
        tests=(
            "tests/dossier/comparison/test_epsilons.py::test_the_smallest_epsilon_that_reaches_an_accuracy",
        ),
    ),
    Fault(
        name="which epsilon: the spread of fits for the error of their mean",
        target="dossier:compare_epsilons",
        old="float(np.std(scores, ddof=1) / math.sqrt(fits))",
        new="float(np.std(scores, ddof=1))",
        tests=("tests/dossier/comparison/test_epsilons.py::test_the_standard_error_is_of_the_mean",),
    ),
    Fault(
        name="epsilons: exact scores of real rows called public",
        target="dossier:compare_epsilons",
        old='audience="public" if data_are_public else "internal"',
        new='audience="public"',
        tests=("tests/dossier/comparison/test_epsilons.py::test_more_epsilon_is_more_accuracy",),
    ),
)

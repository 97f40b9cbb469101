"""Planted faults in synthesis."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="certificate: a user moves it by one row",
        target="synth:certificate_noise",
        old="max_rows + ARITHMETIC",
        new="1 + ARITHMETIC",
        tests=(
            "tests/synth/test_certificate.py::test_noise_grows_with_the_rows_of_a_user_and_with_the_groups",
        ),
    ),
    Fault(
        name="certificate: groups do not share the failure probability",
        target="synth:_upper",
        old="failure / errors.size",
        new="failure",
        tests=("tests/synth/test_certificate.py::test_groups_hold_together_at_the_stated_confidence",),
    ),
    Fault(
        name="certificate: other rows get an old one",
        target="synth:_key",
        old='f"certificate-{mark[:16]}"',
        new='"certificate"',
        tests=("tests/privacy/account/test_resume.py::test_other_rows_never_get_an_old_certificate",),
    ),
    Fault(
        name="independent: many tables, the sensitivity of one",
        target="synth/independent:_noise",
        old="counts_l2(data.adjacency, data.unit, marginals=tables)",
        new="counts_l2(data.adjacency, data.unit, marginals=1)",
        tests=("tests/synth/methods/test_independent.py::test_the_noise_is_as_large_as_it_says",),
    ),
    Fault(
        name="dual query: half of each draw charged",
        target="synth:DualQueryPlan.draw_epsilon",
        old="2.0 * self.step",
        new="self.step",
        tests=("tests/synth/methods/test_dual_query.py::test_the_account_is_charged_what_the_formula_says",),
    ),
    Fault(
        name="residuals: replace taken for two independent removals",
        target="synth:Strategy.sensitivity",
        old="math.sqrt(2.0 * self._apart(precision)) * (1 + 1e-12)",
        new="math.sqrt(2.0) * alone",
        tests=(
            "tests/synth/workload/test_residual_basis.py::test_the_sensitivity_is_reached_by_the_worst_neighbours",
        ),
    ),
    Fault(
        name="dqrs: the normaliser's history forgotten",
        target="synth:odds_sensitivity",
        old="2.0 + 2.0 * (past - 1) * math.tanh(plan.step / 2.0)",
        new="2.0",
        tests=("tests/synth/methods/test_dqrs.py::test_the_declared_reach_is_of_the_right_size",),
    ),
    Fault(
        name="selections: sensitivity halved",
        target="synth:SCORE_SENSITIVITY",
        old="1.0 + 2.0**-20",
        new="0.5 + 2.0**-20",
        tests=("tests/synth/methods/test_frank_wolfe_dual.py::test_selections_cost_what_the_notes_say",),
    ),
    Fault(
        name="adaptive: scores move by the largest weight only",
        target="synth:_Run._select",
        old="* counts_l1(self.data.adjacency, self.data.unit)",
        new="",
        tests=(
            "tests/synth/methods/test_adaptive.py::test_scores_have_the_sensitivity_of_the_largest_weight",
        ),
    ),
    Fault(
        name="adaptive: many columns, the sensitivity of one",
        target="synth:_Run.measure_columns",
        old="marginals=len(names)",
        new="marginals=1",
        tests=(
            "tests/synth/methods/test_adaptive.py::test_neighbours_are_within_every_declared_sensitivity_and_reach_it",
        ),
    ),
    Fault(
        name="tree: edges chosen as if nothing were replaced",
        target="synth:_spanning_edges",
        old="counts_l1(data.adjacency, data.unit)",
        new="1.0",
        tests=(
            "tests/synth/methods/test_tree.py::test_neighbours_are_within_every_declared_sensitivity_and_reach_it",
        ),
    ),
    Fault(
        name="rows: dealt without a turn",
        target="synth:deal",
        old="+ np.repeat(turned, sizes)",
        new="",
        tests=("tests/synth/models/graphical/test_rows.py::test_counts_are_right_on_average",),
    ),
    Fault(
        name="rows: a private number at half its price",
        target="synth:noisy_rows",
        old="2.0 * share",
        new="4.0 * share",
        tests=(
            "tests/synth/methods/test_adaptive.py::test_a_private_number_of_rows_is_paid_for_and_never_read",
        ),
    ),
    Fault(
        name="rows: a private number is read",
        target="synth:adaptive",
        old="noisy_rows(data, account=account, share=COUNTING)",
        new="data.public_count",
        tests=(
            "tests/synth/methods/test_adaptive.py::test_a_private_number_of_rows_is_paid_for_and_never_read",
        ),
    ),
    Fault(
        name="synthesisers: nobody is asked whom an account protects",
        target="synth:SynthesisMethod.fit",
        old="admit(data, account, self)",
        new="None",
        tests=("tests/synth/methods/test_tree.py::test_refuses_before_it_spends",),
    ),
    Fault(
        name="synthesisers: options are passed on unread",
        target="synth:SynthesisMethod.fit",
        old="check_options(options, self.options, method=self.name)",
        new="options = {name: options[name] for name in options if name in {o.name for o in self.options}}",
        tests=(
            "tests/synth/methods/test_method.py::test_a_synthesizer_refuses_options_before_anything_is_charged",
        ),
    ),
    Fault(
        name="resumed jobs: what waits to be repeated counts as spent",
        target="privacy:ResumableAccount.remaining",
        old="spent - charge.cost",
        new="spent",
        tests=("tests/privacy/account/test_resume.py::test_what_remains_is_what_remained_then",),
    ),
    Fault(
        name="resumed jobs: charges of other jobs count as not yet spent",
        target="privacy:ResumableAccount.of",
        old='(known is not None and known.startswith(f"{job}/"))',
        new="known is not None",
        tests=("tests/privacy/account/test_resume.py::test_what_remains_is_what_remained_then",),
    ),
    Fault(
        name="counts: a private number of rows is used as it is",
        target="synth:ExactCounts.public_count",
        old="self.table.n_public is None",
        new="False",
        tests=("tests/synth/test_exact_counts.py", "tests/review/test_synth_findings.py"),
    ),
    Fault(
        name="counts: a declared number of rows is not said",
        target="synth:ExactCounts.assumptions",
        old="assumed = (*assumed, declared)",
        new="pass",
        tests=("tests/review/test_synth_findings.py",),
    ),
    Fault(
        name="contents: queries are stored by their columns alone",
        target="synth:_stored",
        old='| {one.name: getattr(group, one.name) for one in fields(group) if one.name not in ("columns", "weight")}',
        new="| {}",
        tests=("tests/review/test_synth_findings.py",),
    ),
    Fault(
        name="resume: a key is not bound to what its job asks",
        target="synth:Synthesizer.fit",
        old="about=about",
        new='about=""',
        tests=("tests/review/test_synth_findings.py",),
    ),
    Fault(
        name="certificate: rows that were dropped are not spoken of",
        target="synth:certify",
        old="data.unit.kept() + told",
        new="told",
        tests=("tests/review/test_synth_findings.py",),
    ),
)

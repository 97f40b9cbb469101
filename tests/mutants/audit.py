"""Planted faults in audits."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="audit: delta of one canary only",
        target="audit:worst_case",
        old="math.log(canaries * delta)",
        new="math.log(delta)",
        tests=("tests/audit/bounds/test_worst_case.py::test_agrees_with_the_solver",),
    ),
    Fault(
        name="audit: the path pays delta once",
        target="audit/guess_path:epsilon_lower",
        old="one_run.error_of(confidence) - canaries * delta",
        new="one_run.error_of(confidence) - delta",
        tests=("tests/audit/bounds/test_guess_path.py::test_validity_costs_and_the_order_of_repairs",),
    ),
    Fault(
        name="audit: f-DP recursion off by one",
        target="audit:rejects",
        old="right += i /",
        new="right += (i + 1) /",
        tests=("tests/audit/bounds/test_fdp.py::test_agrees_with_peers",),
    ),
    Fault(
        name="audit: foreign coins refute",
        target="audit:AuditResult.verdict",
        old='"refuted" if self.refutes_claims else "warning"',
        new='"refuted"',
        tests=("tests/audit/test_result.py::test_every_finding[one-run-]",),
    ),
    Fault(
        name="audit: replaced records stay in",
        target="audit:PlantedRows.data",
        old="-1.0 if self.adjacency is Adjacency.replace else 0.0",
        new="0.0",
        tests=("tests/audit/canaries/test_planting.py::test_each_adjacency_has_its_own_two_worlds",),
    ),
    Fault(
        name="refute: events chosen on the draws that test them",
        target="audit:worst_event",
        old="test = binned(without[half:]), binned(present[other_half:])",
        new="test = pilot",
        tests=(
            "tests/audit/refutation/test_two_worlds.py::test_events_are_not_chosen_on_the_draws_that_test_them",
        ),
    ),
    Fault(
        name="refute: error not shared among the trials",
        target="audit:refute",
        old="false_alarm / max(chances, 1)",
        new="false_alarm",
        tests=(
            "tests/audit/refutation/test_suite.py::test_the_error_of_a_whole_run_is_shared_among_what_uses_chance",
        ),
    ),
    Fault(
        name="canaries: unfair coins",
        target="audit:inclusion_coins",
        old="Fraction(1, 2)",
        new="Fraction(9, 20)",
        tests=("tests/audit/canaries/test_designs.py::test_coins_are_fair_and_independent_of_the_canaries",),
    ),
    Fault(
        name="decoder: wrong prior variance",
        target="audit:ridge_scores",
        old="4.0 * noise_std**2",
        new="2.0 * noise_std**2",
        tests=("tests/audit/canaries/test_decoder.py::test_ridge_is_the_dense_solution",),
    ),
    Fault(
        name="simulator: a degree of freedom too many",
        target="reproductions:GaussianSum._triangle",
        old="self.dimension - inside",
        new="self.dimension - inside + 1",
        tests=(
            "tests/reproductions/test_gaussian_sum.py::test_each_coordinate_carries_its_share_of_the_length",
        ),
    ),
    Fault(
        name="audit: an epsilon within the Gaussian family is a bound (A4)",
        target="audit:AuditResult.valid",
        old='self.finding.bounded and self.coins == "holdfast"',
        new='self.finding.entitled and self.coins == "holdfast"',
        tests=(
            "tests/review/test_audit_findings.py::test_an_estimate_within_the_gaussian_family_is_not_called_a_bound",
        ),
    ),
    Fault(
        name="audit: bounds rest on coins that nobody checked (A4)",
        target="audit:AuditResult.valid",
        old='self.finding.bounded and self.coins == "holdfast"',
        new="self.finding.bounded",
        tests=("tests/audit/test_result.py::test_every_finding[one-run-]",),
    ),
    Fault(
        name="audit: estimates are shown as bounds (A4)",
        target="audit:AuditResult.epsilon_lower",
        old="self.epsilon_estimate(confidence) if self.valid else 0.0",
        new="self.epsilon_estimate(confidence)",
        tests=("tests/audit/test_result.py::test_every_finding[multi-run-gaussian]",),
    ),
    Fault(
        name="audit: normal scores need no check (A4)",
        target="audit:Transcripts.bounded",
        old='self.bound == "clopper-pearson" or self.scores.checked',
        new="True",
        tests=(
            "tests/audit/test_transcript.py::test_the_normal_version_is_a_bound_only_where_it_was_checked",
        ),
    ),
    Fault(
        name="audit: centres may follow the transcript (A4)",
        target="audit:_Game.normal_by_construction",
        old="not self._residuals or self._moved()",
        new="not self._residuals",
        tests=(
            "tests/audit/test_transcript.py::test_the_normal_version_is_a_bound_only_where_it_was_checked",
        ),
    ),
    Fault(
        name="audit: Holm forgets what is not shown (A5)",
        target="audit:holm",
        old="error / (run - step)",
        new="error / (len(p_values) - step)",
        tests=("tests/dossier/test_evidence.py::test_what_is_not_shown_shares_the_error",),
    ),
    Fault(
        name="audit: no correction over several (A5)",
        target="audit:holm",
        old="error / (run - step)",
        new="error",
        tests=("tests/audit/bounds/test_several.py::test_sound_mechanisms_are_seldom_accused",),
    ),
    Fault(
        name="audit: undeclared rows are public (A6)",
        target="audit:AuditResult.from_json",
        old='data.get("rows", "real")',
        new='data.get("rows", "public")',
        tests=(
            "tests/audit/test_result.py::test_a_stored_audit_without_the_mark_counts_as_made_with_real_rows",
        ),
    ),
    Fault(
        name="audit: rows under canaries of one's own are public (A6)",
        target="audit:audit",
        old='"generated" if made_here and not len(features) else "real"',
        new='"generated" if not len(features) else "real"',
        tests=(
            "tests/audit/test_run.py::test_rows_are_real_unless_there_are_none_or_somebody_declares_them",
        ),
    ),
    Fault(
        name="audit: rows around canaries do not disturb them (A1)",
        target="audit:strays",
        old="float(np.std(values - effect * np.asarray(coins))) / effect",
        new="0.0",
        tests=("tests/audit/test_power.py::test_an_audit_that_no_noise_would_pass_says_that_it_cannot_fail",),
    ),
    Fault(
        name="audit: everything can fail (A1)",
        target="audit:Power.can_fail",
        old="self.no_noise >= A_TEST",
        new="True",
        tests=("tests/audit/test_power.py::test_an_audit_that_no_noise_would_pass_says_that_it_cannot_fail",),
    ),
    Fault(
        name="audit: power at half the error",
        target="audit:contradiction_power",
        old="1.0 - beta / (2 * errors.tried)",
        new="1.0 - beta / errors.tried",
        tests=("tests/audit/test_power.py::test_power_and_p_value_speak_of_the_same_limits",),
    ),
    Fault(
        name="audit: a transcript's thresholds are counted on the runs that chose them",
        target="audit:transcript_audit",
        old="scores[0, cut:], scores[1, cut:], threshold=threshold",
        new="scores[0], scores[1], threshold=threshold",
        tests=("tests/audit/test_transcript.py::test_the_counted_runs_are_others_than_those_that_choose",),
    ),
    Fault(
        name="audit: a transcript that cannot be is as likely as any",
        target="audit:_Game.score",
        old="if [step.mechanism for step in steps] != [step.mechanism for step in other]:",
        new="if len(steps) != len(other):",
        tests=("tests/audit/test_transcript.py::test_another_number_of_releases_gives_the_tables_away",),
    ),
    Fault(
        name="audit: secret coins are part of the transcript",
        target="audit:_planned",
        old="if game.coins.asked:",
        new="if False:",
        tests=("tests/audit/test_transcript.py::test_secret_coins_are_refused",),
    ),
    Fault(
        name="audit: groups are held against the promise for one",
        target="audit:AuditResult._for_group",
        old="curve if self.finding.group == 1 else curve.group(self.finding.group)",
        new="curve",
        tests=("tests/audit/test_transcript.py::test_a_group_shows_more_in_fewer_runs",),
    ),
    Fault(
        name="replay: the result is not compared",
        target="audit:_told_apart",
        old="apart = differing(one.result, two.result)",
        new='apart = ""',
        tests=("tests/audit/refutation/test_replay.py::test_every_disagreement_is_seen",),
    ),
    Fault(
        name="replay: distances are not held against the bound",
        target="audit:compared",
        old="if not told and not distance <= 1.0 + TOLERANCE:",
        new="if not told and not distance <= 10.0 + TOLERANCE:",
        tests=(
            "tests/audit/refutation/test_replay.py::test_a_distance_above_one_refutes_but_not_by_rounding",
        ),
    ),
    Fault(
        name="replay: a unit may be in all parts",
        target="audit:_overdrawn",
        old="if any(len(parts) > 1 for parts in touched.values()):",
        new="if False:",
        tests=("tests/audit/refutation/test_replay.py::test_a_unit_in_two_disjoint_parts_is_seen",),
    ),
    Fault(
        name="replay: draws of a permit are not counted",
        target="audit:_overdrawn",
        old="if count > paid[key]:",
        new="if count > 1000 * paid[key]:",
        tests=(
            "tests/audit/refutation/test_replay.py::test_a_unit_in_more_draws_than_were_paid_for_is_seen",
        ),
    ),
    Fault(
        name="replay: only likely pasts",
        target="audit:Prefix.tape",
        old='None if self.kind == "drawn" else self._output',
        new="None",
        tests=(
            "tests/audit/refutation/test_replay.py::"
            "test_a_fault_that_shows_only_far_from_the_origin_is_found_by_a_hostile_past",
        ),
    ),
    Fault(
        name="coins: one record's word is another's",
        target="privacy:Witness.words_of",
        old="names = self._identifiers[records].tolist()",
        new="names = records.tolist()",
        tests=(
            "tests/audit/refutation/test_replay.py::test_a_record_that_is_gone_takes_its_own_coins_and_no_others",
        ),
    ),
    Fault(
        name="freshness: steps are not compared",
        target="audit:_correlated",
        old="return min(1.0, least * max(1, pairs))",
        new="return 1.0",
        tests=("tests/audit/refutation/test_freshness.py::test_stale_noise_is_seen",),
    ),
    Fault(
        name="freshness: the variance is not tested",
        target="audit:_two_sided",
        old="return float(min(1.0, 2.0 * min(below, 1.0 - below)))",
        new="return 1.0",
        tests=("tests/audit/refutation/test_freshness.py::test_stale_noise_is_seen[quiet]",),
    ),
    Fault(
        name="sampling: the sizes of batches are not tested",
        target="audit:_sizes",
        old="return min(1.0, 2.0 * min(below, 1.0 - below))",
        new="return 1.0",
        tests=(
            "tests/audit/refutation/test_sampling.py::test_other_laws_at_the_poisson_price_fall[fixed size]",
        ),
    ),
    Fault(
        name="fingerprint: arrays are not looked at",
        target="audit/fingerprint:_plain",
        old="np.ascontiguousarray(thing).tobytes()",
        new='b""',
        tests=(
            "tests/audit/refutation/test_fingerprint.py::test_equal_things_are_equal_and_the_last_bit_counts",
        ),
    ),
    Fault(
        name="suite: weak rows are not counted",
        target="audit:Verdict.weak",
        old="self.power < POWER",
        new="self.power < 0.0",
        tests=(
            "tests/audit/refutation/test_suite.py::test_a_replay_without_power_is_called_weak_and_counted",
        ),
    ),
    Fault(
        name="the path's level: no union bound where the recursion is rounded up to 1",
        target="audit/guess_path:level",
        old="return smallest",
        new="smallest = smallest",
        tests=("tests/audit/test_any_claim.py::test_a_level_of_the_path_is_valid_or_that_of_a_union_bound",),
    ),
    Fault(
        name="the Gaussian of a claim is looked for below 100 only",
        target="audit/signal:gaussian_parameter",
        old="high *= 10.0",
        new="break",
        tests=("tests/audit/test_any_claim.py::test_the_gaussian_of_a_claim_just_keeps_it",),
    ),
)

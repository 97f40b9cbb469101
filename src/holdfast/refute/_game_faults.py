"""GAME_FAULTS: mistakes in synthesisers that measure a workload at once or train a generator in rounds."""

from __future__ import annotations

from holdfast.refute._planting import PlantedFault

SELECT_SUBJECT, LEADER_SUBJECT = "query_gan_select replace", "query_gan_leader replace"
TWO_LOOKS_SUBJECT = "two_looks replace"
GAME_FAULTS = (
    PlantedFault(
        name="measure_first_residuals_halved",
        target="synth.methods.residuals:l2_sensitivity",
        old="return strategy.sensitivity(data.adjacency, data.unit) + rounding",
        new="return strategy.sensitivity(data.adjacency, data.unit) / 2 + rounding",
        why="half the sensitivity of what a model is chosen from",
        subjects=("measure_first replace",),
        test="replay",
    ),
    PlantedFault(
        name="measure_first_chooses_by_the_table",
        target="synth.methods.measure_first:measure_first",
        old="lower = residuals.tables(sets)",
        new="lower = tuple(Measurement(columns=columns, values=data(*columns), noise_std=1.0) for columns in sets)",
        why="the model is chosen among exact tables",
        subjects=("measure_first replace",),
        test="replay",
    ),
    PlantedFault(
        name="query_gan_residuals_halved",
        target="synth.methods.residuals:l2_sensitivity",
        old="return strategy.sensitivity(data.adjacency, data.unit) + rounding",
        new="return strategy.sensitivity(data.adjacency, data.unit) / 2 + rounding",
        why="half the sensitivity of what a generator is trained on",
        subjects=("query_gan replace",),
        test="replay",
    ),
    PlantedFault(
        name="two_looks_residuals_halved",
        target="synth.methods.residuals:l2_sensitivity",
        old="return strategy.sensitivity(data.adjacency, data.unit) + rounding",
        new="return strategy.sensitivity(data.adjacency, data.unit) / 2 + rounding",
        why="half the sensitivity of both looks",
        subjects=(TWO_LOOKS_SUBJECT,),
        test="replay",
    ),
    PlantedFault(
        name="two_looks_score_halved",
        target="synth.methods.trial:choose_tables",
        old="sensitivity=max(choices.values())",
        new="sensitivity=0.5 * max(choices.values())",
        why="half of what one row moves in the L1 error of a table",
        subjects=(TWO_LOOKS_SUBJECT,),
        test="replay",
    ),
    PlantedFault(
        name="two_looks_errors_of_one_model",
        target="synth.methods.trial:WorkloadMeasurement.mean_errors",
        old="* math.sqrt(len(models)) * ROUNDING",
        new="* ROUNDING / math.sqrt(len(models))",
        why="the errors of two models are charged like half of one",
        subjects=(TWO_LOOKS_SUBJECT,),
        test="replay",
    ),
    PlantedFault(
        name="two_looks_decides_by_the_table",
        target="synth.methods.trial:WorkloadMeasurement.mean_errors",
        old="float(distance)) / (2.0 * self.total) for distance in noisy",
        new="float(distance)) / (2.0 * self.total) for distance in distances",
        why="which tables are looked at again depends on exact errors",
        subjects=(TWO_LOOKS_SUBJECT,),
        test="replay",
    ),
    PlantedFault(
        name="query_gan_select_score_halved",
        target="synth.classics.query_gan_select:select_rounds",
        old="sensitivity = counts_l1(data.adjacency, data.unit)",
        new="sensitivity = 0.5 * counts_l1(data.adjacency, data.unit)",
        why="half of what one row moves in the L1 error of a table",
        subjects=(SELECT_SUBJECT,),
        test="replay",
    ),
    PlantedFault(
        name="query_gan_select_sees_the_table",
        target="synth.classics.query_gan_select:select_rounds",
        old="model=model, selected=chosen, measured=known[-1]",
        new="model=model, selected=chosen, "
        "measured=Measurement(columns=chosen, values=data(*chosen), noise_std=1.0)",
        why="the round tells the exact table",
        subjects=(SELECT_SUBJECT,),
        test="replay",
    ),
    PlantedFault(
        name="query_gan_leader_cost_does_not_grow",
        target="synth.classics.dual_query:draw_queries",
        old="sensitivity=past * SCORE_SENSITIVITY",
        new="sensitivity=SCORE_SENSITIVITY",
        why="the summed payoffs move by the number of rounds, not by one",
        subjects=(LEADER_SUBJECT,),
        test="replay",
    ),
    PlantedFault(
        name="query_gan_leader_payoffs_summed",
        target="synth.classics.query_gan_leader:regret_certificate",
        old="float(np.mean(np.concatenate(payoffs)))",
        new="float(np.sum(np.concatenate(payoffs)))",
        why="the sum of all payoffs has the noise of their mean",
        subjects=(LEADER_SUBJECT,),
        test="replay",
    ),
)

"""Fine 2020: the game of queries and generators, as printed and as corrected, and its private players round by round.

    python -m studies.reproductions.003_query_gan [--quick]

Writes `studies/reproductions/results/003_query_gan.md`, `docs/figures/thesis_game.svg` and
`docs/figures/game_rounds.svg`. Deterministic: tables and noise come from SEED. The first part is a study on exact
answers and is not private; the second part runs the private players of `query_gan_select` and `query_gan_leader`,
and measures what only the owner of the table can see.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from studies.reproductions.seed_page import BLUE, GREEN, INK, ORANGE, PINK, RED, panels, stamp, write
from studies.reproductions.thesis_game import (
    QueryGame,
    earth_mover,
    equilibrium,
    leader_regret,
    log_gan,
    one_layer_game,
    one_layer_values,
    perturbed_bound,
    privacy_loss,
    regularised_scale,
    slope_bounds,
    softplus,
)

from holdfast.data import Categorical, Schema, open_table
from holdfast.errors import NotPrivateWarning
from holdfast.noise._source import Source
from holdfast.privacy import Account, ApproxDP
from holdfast.synth import Synthesizer, Workload
from holdfast.synth._certificate import certify
from holdfast.synth._evaluation import evaluate
from holdfast.synth._exact_counts import ExactAnswers, ExactCounts
from holdfast.synth._models.generator.mixture import MixtureModel
from holdfast.synth._rows.coded_rows import CodedRows
from holdfast.synth.classics.dual_query import complete_plan
from holdfast.synth.classics.query_gan_leader import LeaderTraining, leader_rounds
from holdfast.synth.classics.query_gan_select import average_mixture, select_rounds
from holdfast.synth.methods.measure import measure_tables

SEED, ROWS, WIDTH = 30300, 500, 6
FORMS = ("corrected", "perturbed", "printed", "other's loss")
RATES = (0.001, 0.01, 0.1, 1.0)
SHOWN = (10, 100, 1000, 4000)
GAME_ROWS, GAME_WIDTH, EPSILON, DELTA = 20_000, 10, 1.0, 1e-9
Curve = dict[str, list[float]]


def bits(rows: int, width: int) -> NDArray[np.int64]:
    """Records with a hidden coin, .85 against .2."""
    random = np.random.default_rng([SEED, rows, width])
    hidden = random.random((rows, 1)) < 0.3
    return (random.random((rows, width)) < np.where(hidden, 0.85, 0.2)).astype(np.int64)


def counted(codes: NDArray[np.int64]) -> ExactCounts:
    """As a table whose neighbours have one row replaced."""
    names = [f"x{place}" for place in range(codes.shape[1])]
    schema = Schema([Categorical(name, ["0", "1"]) for name in names], adjacency="replace")
    frame = {name: codes[:, place].astype(str) for place, name in enumerate(names)}
    return ExactCounts(open_table(frame, schema))


# The study.


def games(rounds: int) -> dict[str, list[float]]:
    """The error of the mixture so far, for each form of the game."""
    codes = bits(ROWS, WIDTH)
    game = QueryGame.of_table(codes)
    found = {form: equilibrium(game, rounds, form=form, seed=SEED) for form in FORMS}
    return {**found, "one layer": one_layer_game(codes, rounds)[1]}


def regrets(rounds: int, seeds: int) -> dict[str, float]:
    """Of the three leaders, each with the rate 1 / sqrt(T)."""
    rate = 1.0 / math.sqrt(rounds)
    return {
        form: float(np.mean([leader_regret(rounds, form=form, rate=rate, seed=s) for s in range(seeds)]))
        for form in ("FTL", "FTRL", "FTPL")
    }


def perturbed(rounds: int, seeds: int) -> dict[float, tuple[float, float, float]]:
    """For each rate: measured regret on steady losses, and theorem 3.5.1 as printed and with its 1 / eta."""
    return {
        rate: (
            float(
                np.mean(
                    [leader_regret(rounds, form="FTPL", rate=rate, seed=s, steady=True) for s in range(seeds)]
                )
            ),
            perturbed_bound(rate, rounds, printed=True),
            perturbed_bound(rate, rounds, printed=False),
        )
        for rate in RATES
    }


def odo_losses(count: int = 100, epsilon: float = 0.1) -> dict[int, tuple[float, float]]:
    """For each number of rounds: the largest privacy loss as printed, and with regulariser and noise that hold."""
    data = np.repeat([1.0, 0.0], count // 2)
    neighbour = data.copy()
    neighbour[0] = 0.0
    # A generator that is nearly right: half a record more.
    generated = np.concatenate([np.ones(count + 1), np.zeros(count - 1)])
    found = {}
    for rounds in (1, 10, 100, 1000):
        # Algorithm 4: 2 |X| / epsilon, whatever t and n are, and no regulariser.
        _, printed = privacy_loss(data, neighbour, generated, rounds, scale=2.0 / epsilon)
        penalty = rounds * (0.25 + 1.0)
        scale = regularised_scale(count, rounds, epsilon, penalty=penalty)
        _, held = privacy_loss(data, neighbour, generated, rounds, scale=scale, penalty=penalty)
        found[rounds] = (float(printed.max()), float(held.max()))
    return found


def one_layer(starts: int) -> tuple[float, float, float]:
    """Least and largest value that ascent of a one-layer discriminator ends with, and the largest error of a pair."""
    codes = bits(ROWS, WIDTH)
    random = np.random.default_rng(SEED)
    even = np.stack([random.permutation(codes[:, place]) for place in range(WIDTH)], axis=1)
    values = one_layer_values(codes.astype(float), even.astype(float), starts=starts, seed=SEED)
    places = np.bincount(even @ (1 << np.arange(WIDTH)), minlength=2**WIDTH) / ROWS
    return min(values), max(values), QueryGame.of_table(codes).error(places)


def offsets(draws: int) -> tuple[float, float]:
    """How often a certificate of 95 % fails with the printed offset, -b ln(1 - 2u), and with b ln(1 / (2u))."""
    noise = np.random.default_rng(SEED).laplace(size=draws)
    return float(np.mean(noise - math.log(1 - 0.1) < 0)), float(np.mean(noise + math.log(10.0) < 0))


def measures(epsilons: Sequence[float]) -> list[tuple[str, float, float, float, float, float]]:
    """Rows of the private methods beside their certificate, the earth mover's distance and the log-GAN objective."""
    codes = bits(ROWS, WIDTH)
    data = counted(codes)
    names = list(data.domain)
    exact = data(*names).reshape(-1) / ROWS
    found = []
    for method in ("query_gan", "query_gan_select", "query_gan_leader", "independent"):
        for epsilon in epsilons:
            work = Workload.marginals(data.table.schema, 2)
            made = Synthesizer(epsilon, 1e-6, method=method, workload=work, random_state=SEED).fit(data.table)
            released = np.asarray(made._rows(names)).reshape(-1)
            share = released / released.sum()
            error = evaluate(lambda columns: data(*columns), made._rows, work).max_error
            assert made.certificate_ is not None
            found.append(
                (
                    method,
                    epsilon,
                    error,
                    made.certificate_.alpha,
                    earth_mover(exact, share),
                    log_gan(exact, share),
                )
            )
    return found


# The private players, round by round.


def played(quick: bool) -> dict[str, Curve]:
    """What happens in the games of both players: curves that only the owner of the table can draw."""
    data = counted(bits(GAME_ROWS, GAME_WIDTH))
    work = Workload.marginals(data.table.schema, 2)
    curves = {"select": _select(data, work, 10 if quick else 40)}
    curves["leader"] = _leader(data, work, 20 if quick else 200)
    return curves


def _account() -> Account:
    return Account(ApproxDP(EPSILON, DELTA), adjacency="replace", currency="zcdp", seed=SEED)


def _error(data: ExactCounts, work: Workload, model: MixtureModel) -> float:
    return evaluate(lambda columns: data(*columns), model.project, work).max_error


def _select(data: ExactCounts, work: Workload, rounds: int) -> Curve:
    first, *game = _account().split(0.1, 0.1, 0.8)
    measured = measure_tables(data, [(name,) for name in data.names], account=first, label="one-way tables")
    curve: Curve = {
        "payoff": [],
        "noisy error": [],
        "largest error": [],
        "largest error, mean of rounds": [],
        "certificate": [],
    }
    models = []
    for turn in select_rounds(
        data, work, measured, float(GAME_ROWS), game, rounds=rounds, form="mixture", components=500, steps=10
    ):
        models.append(turn.model)
        gap = np.abs(data(*turn.selected) - turn.model.project(turn.selected))
        curve["payoff"].append(float(gap.sum()) / (2 * GAME_ROWS))
        curve["noisy error"].append(turn.noisy_error)
        curve["largest error"].append(_error(data, work, turn.model))
        curve["largest error, mean of rounds"].append(_error(data, work, average_mixture(models)))
        curve["certificate"].append(_certified(data, work, turn.model, turn.number))
    return curve


def _certified(data: ExactCounts, work: Workload, model: MixtureModel, number: int) -> float:
    """What the certificate would say of rows drawn from this round's generator, had the game ended here."""
    _, paying = Account(
        ApproxDP(EPSILON, DELTA), adjacency="replace", currency="zcdp", seed=SEED + number
    ).split(0.9, 0.1)
    codes = model.sample(GAME_ROWS, Source(seed=SEED + number))
    rows = CodedRows(domain=data.domain, codes=codes)
    return certify(data, rows, work, account=paying, groups=False).overall.alpha


def _leader(data: ExactCounts, work: Workload, rounds: int) -> Curve:
    truth, account = ExactAnswers.of(data, work), _account()
    plan = complete_plan(
        truth,
        account,
        log_universe=GAME_WIDTH * math.log(2),
        rounds=rounds,
        samples=8,
        step=None,
        most_draws=10_000,
    )
    curve: Curve = {"payoff": [], "largest error": [], "largest error, mean of rounds": [], "certificate": []}
    total = np.zeros(truth.layout.size)
    for turn in leader_rounds(data, truth, plan, account, LeaderTraining(components=100, training_steps=20)):
        answers = truth.layout.answers_of(partial(_shares, turn.model))
        total += answers
        curve["payoff"].append(float(np.mean(truth.signed_excess(answers)[list(turn.drawn)])) / GAME_ROWS)
        curve["largest error"].append(float(np.abs(truth.excess(answers)).max()) / GAME_ROWS)
        mean = np.abs(truth.excess(total / turn.number)).max() / GAME_ROWS
        curve["largest error, mean of rounds"].append(float(mean))
        curve["certificate"].append(_certified(data, work, turn.model, turn.number))
    return curve


def _shares(model: MixtureModel, columns: Sequence[str]) -> NDArray[np.float64]:
    return np.asarray(model.project(columns) / model.total)


def certificates(seeds: int) -> dict[str, list[tuple[float, float]]]:
    """The certificate of the rows and their true error, for each player."""
    data = counted(bits(GAME_ROWS, GAME_WIDTH))
    work = Workload.marginals(data.table.schema, 2)
    found: dict[str, list[tuple[float, float]]] = {}
    for method in ("query_gan", "query_gan_select", "query_gan_leader"):
        for seed in range(SEED, SEED + seeds):
            made = Synthesizer(EPSILON, DELTA, method=method, workload=work, random_state=seed).fit(
                data.table
            )
            error = evaluate(lambda columns: data(*columns), made._rows, work).max_error
            assert made.certificate_ is not None
            found.setdefault(method, []).append((made.certificate_.alpha, error))
    return found


# The page and its pictures.


def page(found: Mapping[str, Any], seconds: float) -> list[str]:
    """The generated Markdown."""
    lines = ["# Fine 2020: queries against a generator", "", stamp("003_query_gan", SEED, seconds), ""]
    lines += ["## The game, printed and corrected (not private: exact answers)", "", GAME_WORDS, ""]
    lines += ["![](../../../docs/figures/thesis_game.svg)", ""]
    shown = [t for t in SHOWN if t <= len(found["games"]["corrected"])]
    lines += ["| form | " + " | ".join(f"T = {t:,}" for t in shown) + " |", "|---|" + "---:|" * len(shown)]
    for form, errors in found["games"].items():
        lines.append(f"| {form} | " + " | ".join(f"{errors[t - 1]:.4f}" for t in shown) + " |")
    lines += ["", "## Leaders on a sequence that leads them about", ""]
    rounds = list(found["regrets"])
    lines += ["Regret at rate 1 / sqrt(T); of FTL it is half of T.", ""]
    lines += ["| | " + " | ".join(f"T = {t:,}" for t in rounds) + " |", "|---|" + "---:|" * len(rounds)]
    for form in ("FTL", "FTRL", "FTPL"):
        lines.append(f"| {form} | " + " | ".join(f"{found['regrets'][t][form]:.1f}" for t in rounds) + " |")
    lines += ["", "## Theorem 3.5.1 (FTPL) has lost its 1 / eta", "", BOUND_WORDS, ""]
    lines += ["| eta | measured regret | as printed | with 1 / eta |", "|---:|---:|---:|---:|"]
    lines += [f"| {rate:g} | {a:.1f} | {b:.1f} | {c:.1f} |" for rate, (a, b, c) in found["perturbed"].items()]
    lines += ["", "## Algorithm 4 (ODO-1): where it is not private", ""]
    lines += [ODO_WORDS.format(loss=max(mended for _, mended in found["odo"].values())), ""]
    lines += ["| rounds | as printed: largest loss | with regulariser: largest loss |", "|---:|---:|---:|"]
    lines += [f"| {t:,} | {a:.3g} | {b:.3g} |" for t, (a, b) in found["odo"].items()]
    least, most, error = found["one layer"]
    printed, correct = found["offsets"]
    lines += ["", "## Small things", ""]
    lines += [
        f"- A one-layer discriminator (softplus, weights clipped to 1) against shuffled columns: ascent from different "
        f"starts ends with values from {least:.3f} to {most:.3f}; the largest error of a pair is {error:.3f}. "
        "Functions of the class go beyond [0, 1], so its value is no error of an answer; that ascent found the best "
        "one cannot be certified, since the value is a difference of convex functions (theorem 4.0.1 needs it)."
    ]
    lines += [
        f"- The certificate's offset at u = .05: as printed it fails in {100 * printed:.1f} % of draws, corrected in "
        f"{100 * correct:.1f} %."
    ]
    for weight, widths in ((1.0, (1, 50, 1)), (0.1, (20, 50, 1))):
        bound, right, reached = slope_bounds(weight, widths)
        lines.append(
            f"- Lemma 3.6.1, weights clipped to {weight:g} in layers {widths}: slope bound {bound:g} as printed, "
            f"{right:.3g} corrected, {reached:.3g} reached."
        )
    lines.append(
        f"- softplus(1) = {float(softplus(np.array(1.0))):.3f}: with it a marginal is not in the class."
    )
    lines += ["", "## Other measures of a table", "", MEASURE_WORDS, ""]
    lines += ["| method | epsilon | largest error | certified | earth mover's distance | log-GAN objective |"]
    lines += ["|---|---:|---:|---:|---:|---:|"]
    lines += [
        f"| {name} | {epsilon:g} | {error:.4f} | {alpha:.4f} | {moved:.3f} | {value:.4f} |"
        for name, epsilon, error, alpha, moved, value in found["measures"]
    ]
    lines += ["", "## The private players, round by round", "", PLAY_WORDS, ""]
    lines += ["![](../../../docs/figures/game_rounds.svg)", ""]
    lines += ["| player | certified, mean | true largest error, mean | runs | certificate too small |"]
    lines += ["|---|---:|---:|---:|---:|"]
    for name, pairs in found["certificates"].items():
        alphas, errors = np.array(pairs).T
        lines.append(
            f"| {name} | {alphas.mean():.4f} | {errors.mean():.4f} | {len(pairs)} | {int((alphas < errors).sum())} |"
        )
    return lines


GAME_WORDS = f"""\
The class is all cells of all pairs of {WIDTH} bits, {ROWS} records with a hidden coin, and the generator plays single
records found by looking at all of them. Entries are the largest error of the mixture of all moves so far. "corrected"
regularises the discriminator, in which the value is linear; "perturbed" has the generator follow the perturbed leader
as well; "printed" regularises the generator instead, whose logits the value is not convex in (algorithm 1, lemma
3.4.1); "other's loss" trains the generator on the discriminator's loss (algorithm 3, lines 8 and 11); "one layer" has
the thesis's discriminator, softplus(theta x + b) with weights clipped to 1, take a step of ascent a round: its value is
not concave in theta and its class holds no pair of columns, so neither theory nor the game brings the errors down."""
BOUND_WORDS = """\
Losses x on [0, 1], 1,000 rounds. As printed the bound can be made as small as one likes by a small eta, that is, by
perturbing more. The corrected one cannot."""
ODO_WORDS = """\
One column, n = 100, one record replaced, a generator that is off by half a record. The perturbed stationary point has
the density of the noise times the second derivative, which depends on the table: that factor is unbounded without a
regulariser, whatever the noise, and is infinite where the generator is exact in one world. Claimed is epsilon 0.1 a
round. With a penalty that makes the difference of convex functions convex, and noise for a gradient that counts the
table once a round, the loss is {loss:.2g} at most."""
MEASURE_WORDS = f"""\
{ROWS} records of {WIDTH} bits, delta 1e-6, pairs. The certificate speaks of the class that was declared. The earth
mover's distance (mean bits to change) and the log-GAN objective (-0.6931 where two tables are alike) speak of the whole
distribution, have no private bound, and are for the owner."""
PLAY_WORDS = f"""\
{GAME_ROWS:,} records of {GAME_WIDTH} bits, all pairs, epsilon {EPSILON:g}, delta {DELTA:g}. The payoff is what the
query player wins: for `select` half the L1 error of the table it selected, for `leader` the mean signed error of its
draws. The noisy error is what the public sees of it; the certificate is what would be published of rows of the round's
generator, had the game ended there (a tenth of the budget, confidence 95 %). All other curves need the table."""


def draw_study(found: Mapping[str, Any]) -> None:
    """The game's forms, and ODO-1's privacy loss."""
    looks = {
        "corrected": (BLUE, "-"),
        "perturbed": (GREEN, (0, (6, 1.5))),
        "printed": (RED, "-"),
        "other's loss": (ORANGE, (0, (1, 1))),
        "one layer": (PINK, (0, (3, 1, 1, 1))),
    }
    with panels("thesis_game", columns=2, legend=6, size=(9.6, 3.7)) as axes:
        left, right = axes[0]
        for form, errors in found["games"].items():
            colour, line = looks[form]
            left.plot(
                range(1, len(errors) + 1), errors, color=colour, linestyle=line, linewidth=1.5, label=form
            )
        left.set(
            xscale="log",
            yscale="log",
            xlabel="rounds",
            ylabel="largest error of the mixture",
            title="Who is regularised, and on whose loss",
        )
        rounds = list(found["odo"])
        for place, (label, colour) in enumerate((("ODO-1 as printed", PINK), ("with regulariser", INK))):
            values = [found["odo"][t][place] for t in rounds]
            right.plot(rounds, values, color=colour, marker="o", markersize=4, linewidth=1.5, label=label)
        right.axhline(0.1, color=RED, linewidth=1.0, linestyle=(0, (2, 2)), label="claimed")
        right.set(
            xscale="log",
            yscale="log",
            xlabel="rounds summed",
            ylabel="largest privacy loss",
            title="Privacy of the perturbed minimiser",
        )


def draw_rounds(found: Mapping[str, Any]) -> None:
    """Both players' games."""
    looks = {
        "payoff": (ORANGE, "-"),
        "noisy error": (PINK, (0, (1, 1))),
        "largest error": (BLUE, "-"),
        "largest error, mean of rounds": (GREEN, (0, (6, 1.5))),
        "certificate": (RED, "-"),
    }
    titles = {"select": "A: select and measure", "leader": "B: multiplicative weights"}
    with panels("game_rounds", columns=2, legend=4, size=(9.6, 3.8)) as axes:
        for place, (player, curve) in zip(axes[0], found["rounds"].items(), strict=True):
            for name, values in curve.items():
                colour, line = looks[name]
                at = range(1, len(values) + 1)
                wide = 0.7 if name == "payoff" else 1.3
                place.plot(at, values, color=colour, linestyle=line, linewidth=wide, label=name)
            alphas, errors = np.array(found["certificates"][f"query_gan_{player}"]).T
            place.axhline(
                alphas.mean(),
                color=RED,
                linestyle=(0, (2, 2)),
                linewidth=1.1,
                label="certificate of the release",
            )
            place.axhline(
                errors.mean(),
                color=INK,
                linestyle=(0, (1, 2)),
                linewidth=1.1,
                label="true error of the release",
            )
            if min(map(min, curve.values())) > 0:
                place.set_yscale("log")
            else:  # a payoff can be negative: linear below a hundredth, logarithmic above
                place.set_yscale("symlog", linthresh=1e-2)
            place.set(xlabel="round", ylabel="share of records", title=titles[player])


def main() -> int:
    """Play, draw, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="short games, nothing written")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore", NotPrivateWarning)
    begin = time.process_time()
    found: dict[str, Any] = {
        "games": games(200 if quick else 4000),
        "regrets": {t: regrets(t, 2 if quick else 20) for t in ((100, 400) if quick else (100, 400, 1600))},
        "perturbed": perturbed(1000, 2 if quick else 20),
        "odo": odo_losses(),
        "one layer": one_layer(5 if quick else 40),
        "offsets": offsets(10_000 if quick else 1_000_000),
        "measures": measures((1.0,) if quick else (0.5, 1.0, 4.0)),
        "rounds": played(quick),
        "certificates": certificates(1 if quick else 3),
    }
    lines = page(found, time.process_time() - begin)
    if not quick:
        write("003_query_gan", lines)
        draw_study(found)
        draw_rounds(found)
    else:
        lines.append(
            "\n--quick: too few rounds for a regret and too few runs for a rate; nothing was written."
        )
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

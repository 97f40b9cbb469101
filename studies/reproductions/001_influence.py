"""Wu 2016, chapter 5: influence, noise, interference and one-bit protocols, with its four questions answered.

    python -m studies.reproductions.001_influence [--quick]

Writes `studies/reproductions/results/001_influence.md`, `docs/figures/influence_gain.svg`,
`docs/figures/interference.svg` and `docs/figures/one_bit_protocol.svg`. Everything is exact, by enumeration.
"""

# ruff: noqa: RUF001  Greek letters in labels are meant.

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from studies.reproductions import boolean_functions as boolean
from studies.reproductions import one_bit_protocols as protocols
from studies.reproductions.seed_page import BLUE, GREEN, INK, MUTED, ORANGE, PINK, RED, panels, stamp, write

Floats = NDArray[np.float64]
RHOS = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
SEED = 20051
NAMED: dict[str, Floats] = {
    "dictator": boolean.dictator(7),
    "parity": boolean.parity(7),
    "majority": boolean.majority(7),
    "AND": boolean.conjunction(7),
    "question 1": boolean.unanswered(7),
}


def gains() -> list[str]:
    """Algorithm 9 against the best attack, for the functions of the text (n = 7, bit 0)."""
    lines = [
        "| function, influence | " + " | ".join(f"ρ = {rho:g}" for rho in RHOS) + " |",
        "|---|" + "---|" * len(RHOS),
    ]
    for name, h in NAMED.items():
        cells = [
            f"{boolean.printed_gain(h, 0, rho):.4f} / {boolean.bayes_gain(h, 0, rho):.4f}" for rho in RHOS
        ]
        lines.append(f"| {name}, {boolean.influence(h, 0):.4f} | " + " | ".join(cells) + " |")
    return lines


def influences_of_all(bits: int) -> tuple[Floats, Floats, Floats]:
    """For every function: influences of all bits, squared coefficients, and which sets hold which bit."""
    spectra = boolean.every_spectrum(bits)
    inside = ((np.arange(2**bits)[:, None] >> np.arange(bits)) & 1).astype(np.float64)
    return np.asarray(spectra @ inside), spectra, inside


def extremes(rho: float, deltas: list[float], bits: int = 4) -> list[tuple[float, float, float]]:
    """Question 2, all functions of four bits that all have influence 1 - delta or more: worst and bound."""
    influences, spectra, inside = influences_of_all(bits)
    weights = rho ** np.maximum(boolean.degrees(bits) - 1, 0) * inside[:, 0]
    stable = spectra @ weights
    return [
        (
            delta,
            float(stable[np.all(influences >= 1 - delta - 1e-9, axis=1)].max()),
            boolean.interference_bound(rho, bits, delta),
        )
        for delta in deltas
    ]


def smc() -> list[str]:
    """Section 5.5: what Bob learns about bit 0 of Alice's x from f(x, y), by his own choice of y: influence of f_y."""
    lines = ["| f(x, y), 4 bits each | mean advantage over y | of the best y |", "|---|---|---|"]
    for name, table in (
        ("x > y", protocols.greater(4)),
        ("x = y", protocols.equality(4)),
        ("inner product", protocols.inner_product(4)),
    ):
        found = [boolean.bayes_gain(1.0 - 2.0 * table[:, y], 3) - 0.5 for y in range(16)]
        lines.append(f"| {name} (highest bit of x) | {np.mean(found):.4f} | {np.max(found):.4f} |")
    return lines


def players() -> tuple[list[str], dict[str, Any]]:
    """How many players one-bit protocols need: n = 2 by search, and in general."""
    fewest = protocols.fewest_without_stopping(2)
    stopping = [protocols.least_players(tau) for tau in protocols.classes()]
    lines = [
        "| function, n = 2 | with early stopping | without | rank bound without |",
        "|---|---:|---:|---:|",
    ]
    for name, table in (
        ("inner product", protocols.inner_product(2)),
        ("x = y", protocols.equality(2)),
        ("x > y", protocols.greater(2)),
    ):
        lines.append(
            f"| {name} | {protocols.least_players(table)} | {fewest[protocols.code(table)]} | "
            f"{protocols.players_by_rank(table)} |"
        )
    lines.append(f"| the worst of all 65,536 | {max(stopping)} | {fewest.max()} | |")
    return lines, {"most": int(fewest.max()), "stopping": max(stopping)}


def text() -> list[str]:
    """The page without its stamp."""
    table, most = players()
    rows = extremes(0.5, [0.0, 0.125, 0.25, 0.375, 0.5])
    question_2 = ["| δ | worst of all functions of 4 bits | bound |", "|---:|---:|---:|"]
    question_2 += [f"| {delta:g} | {worst:.4f} | {bound:.4f} |" for delta, worst, bound in rows]
    return [
        HEAD,
        "",
        "![](../../../docs/figures/influence_gain.svg)",
        "",
        "Algorithm 9 / the best attack:",
        "",
        *gains(),
        "",
        ERRATA,
        "",
        "## Interference (theorem 5.16) and question 2",
        "",
        "![](../../../docs/figures/interference.svg)",
        "",
        QUESTION_2,
        "",
        "At ρ = 0.5:",
        "",
        *question_2,
        "",
        "## One-bit protocols: theorems 5.23, 5.24, questions 3 and 4",
        "",
        "![](../../../docs/figures/one_bit_protocol.svg)",
        "",
        QUESTIONS_3_4.format(**most),
        "",
        *table,
        "",
        "## Section 5.5",
        "",
        SECTION_5_5,
        "",
        *smc(),
    ]


HEAD = """A model is a function h of n bits; an attacker knows h(x) and, of each other bit, a copy that is right
with probability (1 + ρ)/2, and guesses one bit. Without noise (ρ = 1) the best share of right guesses is (1 +
influence)/2 (lemma 5.7). With noise, the printed algorithm 9 has (1 + stable influence)/2 (theorem 5.14), and
the best attack there is has 1/2 + E|T D h|/2, where D h is half the change of h with the bit and T averages
over the noise: algorithm 9 has E[D h · T D h] in the same place, and |D h| is at most 1."""
ERRATA = """**Remark 5.15** calls its example OR; the function is AND, and its stable influence is ((1 +
ρ)/4)^(n-1), not ρ^(n-1) 2^(1-n): at n = 5, ρ = 0.5 the advantage is 0.009888 and not 0.001953. **Question 1**
asks whether algorithm 9 is optimal up to a term that vanishes with n. **No**: h = x₀ where the other bits have
product -1, and 1 elsewhere, is inverted with 3/4 for every ρ, and algorithm 9 falls short by (1 - ρ^(n-1))/8,
which does not vanish. **Least invertible** (theorem 5.10) are the functions that are constant but for one
point, **most invertible** is the parity; both are tested over all functions of up to four bits. **For a
monotone function noise costs the best attack nothing**: then D h is never negative, nor is T D h, and E|T D h|
is the influence whatever ρ; guessing that the bit is as the output does it."""
QUESTION_2 = """If t bits have influence 1, stable influence is at most ρ^(t-1): bits that matter greatly hide
each other under noise. **Question 2**: and if the influences are only 1 - δ? Then it is at most ρ^(t-1)(1 - q)
+ q with q = tδ/(t - 1): it falls at the same rate, to a floor of the order of δ (proof: the weight of
coefficients that miss a bit is at most δ each, so tδ on average over the bits; the bound is convex in the
number of bits missed). Below, the bound and the worst of all 65,536 functions of four bits."""
QUESTIONS_3_4 = """Layers of a model hold x and y in turn and pass one bit on. The universal-1 protocol asks "is
x this string?" for one string after another, and stops with the answer: 2^(n+1) players, 2^(n+1) - 2 suffice,
and the bit is really one of three signs. **Question 4** (without early stopping, is there a protocol for every
function?) has the answer **yes**, with 2^(n+1) players and a plain bit: player 2i - 1 says 0 if x is the i-th
string and else passes the bit on; player 2i adds τ(x_i, y) + τ(x_(i+1), y). Whoever is cleared at its own
string collects a sum that telescopes to τ(x, y). "Early stopping is essential" (construction 1) does not hold.
For n = 2 a search over all protocols finds that {most} players do for every function, and {stopping} with
stopping. **Question 3** (are Ω(2^n) rounds needed for some function?): **yes**, by counting: k players with
stopping have at most 4^(2^n) 16^(2^n (k-1)) protocols for 2^(4^n) functions, so nearly all functions need (2^n
- 2)/4 + 1 players or more. Without stopping, the rank of the matrix (-1)^τ is a bound for each single function,
since a player adds at most 1 to it: inner product (**example 5.22**) needs between 2^n and 2^(n+1) players.
With stopping, the number for inner product stays open here. Protocols must always be right; private coins then
add nothing."""
SECTION_5_5 = """*Hard-core predicates* are the dual: there one looks for a bit that the output does not give
away, to anybody with bounded means; model inversion bounds nobody's means and tells all other bits. No small
experiment decides anything about them. *Secure computation* protects the way to f(x, y), not what f(x, y) says:
a malicious Bob who knows Alice's other bits chooses y and learns a bit with advantage influence/2 of f_y,
however secure the protocol."""


def draw() -> None:
    """Three figures."""
    at = np.linspace(0.0, 1.0, 41)
    looks = dict(zip(NAMED, ((INK, "-"), (RED, "-"), (BLUE, "-"), (GREEN, "-"), (ORANGE, "-")), strict=True))
    with panels("influence_gain", columns=2, size=(9.6, 4.2), legend=5, sharey=True) as axes:
        for name, h in NAMED.items():
            colour, line = looks[name]
            for place, gain in enumerate((boolean.printed_gain, boolean.bayes_gain)):
                values = [gain(h, 0, float(rho)) for rho in at]
                axes[0, place].plot(at, values, color=colour, linestyle=line, linewidth=1.8, label=name)
        axes[0, 0].set(
            title="Algorithm 9", xlabel="ρ: how good the knowledge is", ylabel="share of right guesses of x₀"
        )
        axes[0, 1].set(title="The best attack", xlabel="ρ: how good the knowledge is")
    with panels("interference", columns=2, size=(9.6, 4.4), legend=4) as axes:
        for t, colour in zip((2, 3, 5, 9), (MUTED, BLUE, ORANGE, RED), strict=True):
            axes[0, 0].plot(at, at ** (t - 1), color=colour, linewidth=1.8, label=f"{t} bits of influence 1")
        axes[0, 0].set(
            title="Theorem 5.16: parity hides its bits", xlabel="ρ", ylabel="stable influence, at most"
        )
        deltas = [k / 16 for k in range(13)]
        for rho, colour in ((0.25, BLUE), (0.5, GREEN), (0.9, PINK)):
            rows = extremes(rho, deltas)
            axes[0, 1].plot(
                deltas, [b for _, _, b in rows], color=colour, linestyle=(0, (5, 2)), linewidth=1.3
            )
            axes[0, 1].plot(
                deltas,
                [w for _, w, _ in rows],
                color=colour,
                marker="o",
                markersize=3.5,
                linewidth=1.5,
                label=f"worst function of 4 bits, ρ = {rho:g}",
            )
        axes[0, 1].set(
            title="Question 2: influence 1 - δ (dashed: bound)", xlabel="δ", ylabel="stable influence"
        )
    _protocol()


def _protocol() -> None:
    """Both universal protocols on one input: who says what."""
    tau = protocols.inner_product(2)
    x, y = 2, 3
    runs = (
        ("With early stopping: “is x this string?”", protocols.play(protocols.universal(tau), x, y)),
        (
            "Without: clear at x, add what telescopes",
            protocols.play(protocols.universal_without_stopping(tau), x, y),
        ),
    )
    with panels("one_bit_protocol", rows=2, size=(9.6, 3.9), legend=2) as axes:
        for row, (title, run) in enumerate(runs):
            panel = axes[row, 0]
            for place, bit in enumerate(run.bits):
                colour = BLUE if place % 2 == 0 else ORANGE
                panel.add_patch(_box(place, colour))
                panel.text(
                    place,
                    0.0,
                    f"P{place + 1}\n{'x' if place % 2 == 0 else 'y'}",
                    ha="center",
                    va="center",
                    fontsize=8,
                )
                last = place == len(run.bits) - 1
                word = f"answer {bit}" if last else f"{bit}"
                panel.annotate(
                    word,
                    (place + 0.66, 0.0),
                    xytext=(place + 0.34, 0.0),
                    fontsize=9 if not last else 9.5,
                    va="center",
                    fontweight="bold",
                    color=RED if last else INK,
                )
            panel.set(
                xlim=(-0.6, 9.2),
                ylim=(-0.6, 0.6),
                title=f"{title} (x = 10, y = 11, inner product {run.answer})",
            )
            panel.axis("off")
        axes[1, 0].plot([], [], color=BLUE, linewidth=6, alpha=0.35, label="holds x")
        axes[1, 0].plot([], [], color=ORANGE, linewidth=6, alpha=0.35, label="holds y")


def _box(place: int, colour: str) -> Any:
    from matplotlib.patches import FancyBboxPatch

    return FancyBboxPatch(
        (place - 0.24, -0.32),
        0.48,
        0.64,
        boxstyle="round,pad=0.02",
        facecolor=colour,
        alpha=0.25,
        edgecolor=colour,
    )


def main() -> int:
    """Enumerate, draw, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="nothing written")
    quick = parser.parse_args().quick
    begin = time.process_time()
    found = text()
    lines = ["# Wu 2016, chapter 5: how invertible is a function?", ""]
    lines += [stamp("001_influence", SEED, time.process_time() - begin), "", *found]
    if not quick:
        write("001_influence", lines)
        draw()
    sys.stdout.write("\n".join(lines) + "\n")
    if quick:
        sys.stdout.write(
            "\n--quick: everything is exact and shown; only files and pictures are not written.\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

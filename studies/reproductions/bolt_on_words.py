"""The page on Wu 2016, figures 3.2 and 3.3: its tables, and sentences that are made from the numbers in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from studies.reproductions.seed_agreement import one_more, rounded_inside
from studies.reproductions.seed_page import table
from studies.reproductions.seed_store import Store

Found = dict[str, dict[float, list[float]]]
"""Accuracies of every seed, by line and epsilon."""
Passes = dict[str, Found]
Repeats = dict[tuple[int, int], list[float]]
"""Accuracies at epsilon 4 by passes and batch, one for each run."""
NOISELESS, BOLT_ON, SCS13, BST14 = "noiseless", "bolt-on", "SCS13", "BST14"
OUR_STEP = "bolt-on, holdfast's step"
PRINTED = "bolt-on as printed (REFUTED, not private)"
PRINTED_BST14 = "BST14 as printed (REFUTED, not private)"
TESTS = {
    1: "Test 1: convex, ε",
    2: "Test 2: convex, (ε, δ)",
    3: "Test 3: strongly convex, ε",
    4: "Test 4: strongly convex, (ε, δ)",
}
FIGURE_33 = {
    ("(a)", 1, 1): 0.71,
    ("(a)", 20, 1): 0.45,
    ("(c)", 20, 1): 0.45,
    ("(c)", 20, 10): 0.71,
}
"""What the thesis prints at epsilon = 4 (text of section 3.5 and caption of figure 3.3)."""
TIMES_SCS13, TIMES_BST14 = 4.0, 3.5
""""Up to 4x better than SCS13 and up to 3.5x better than BST14"."""

HEAD = """Logistic regression by permutation SGD, 10 passes, batches of 50, λ = 0.0001 in tests 3 and 4, on all rows
that the thesis trains on; neighbours replace one row. Entries are test accuracies, mean ± standard deviation over
seeds; bands in the figures span the seeds. What differs from the thesis: δ = m^-1.5 and not 1/m, which would allow to
publish a random row; SCS13 with a penalty steps by min(1, 1/(λt)), where the thesis took 1/sqrt(t) and says that it
makes no difference; BST14 without a penalty is confined to a ball of radius 10, and accounted for by Rényi divergences
of sampling without replacement and not by the printed composition. The red line is bolt-on with the step that holdfast
takes by itself, which depends on ε; the blue one takes the thesis's, 1/sqrt(m). Noise is drawn in idealised arithmetic,
for all alike. Protein has no published ranges and Covertype's labels are class 2 against the rest: the thesis says
neither, nor which projection its MNIST went through."""


def mean(values: Sequence[float]) -> float:
    """Over the seeds."""
    return float(np.mean(values))


def places(items: Sequence[str]) -> str:
    """A list in words."""
    return "nowhere" if not items else ", ".join(items)


def cells(
    found: dict[str, dict[int, Found]], one: str, other: str
) -> Iterator[tuple[str, int, float, float, float]]:
    """Where both lines were measured: table, test, epsilon and the two means."""
    for name, tests in found.items():
        for test, lines in tests.items():
            for e in lines.get(one, {}):
                if e in lines.get(other, {}):
                    yield name, test, e, mean(lines[one][e]), mean(lines[other][e])


def against(found: dict[str, dict[int, Found]], rival: str, printed: float) -> str:
    """Bolt-on against one rival, as numbers."""
    pairs = list(cells(found, BOLT_ON, rival))
    behind = [f"{name} test {test} ε = {e:g}" for name, test, e, ours, theirs in pairs if ours <= theirs]
    name, test, e, ours, theirs = max(pairs, key=lambda cell: cell[3] / max(cell[4], 1e-9))
    holds = "is reached" if ours / theirs >= printed else "is not reached"
    return (
        f"**Against {rival}**: bolt-on is ahead in {len(pairs) - len(behind)} of {len(pairs)} cells; behind or level: "
        f"{places(behind)}. The largest ratio of accuracies is {ours / theirs:.1f} ({name}, test {test}, ε = {e:g}: "
        f'{ours:.3f} against {theirs:.3f}); the thesis\'s "up to {printed:g}x" {holds}.'
    )


def penalty_words(found: dict[str, dict[int, Found]]) -> str:
    """Whether the penalty pays with sound noise."""
    ahead, all_cells = [], 0
    for name, tests in found.items():
        for plain, strong in ((1, 3), (2, 4)):
            for e in tests[plain][BOLT_ON]:
                all_cells += 1
                if mean(tests[strong][BOLT_ON][e]) > mean(tests[plain][BOLT_ON][e]):
                    ahead.append(f"{name} test {strong} ε = {e:g}")
    return (
        f"**With a penalty**, and the noise that the proof needs, bolt-on is ahead of bolt-on without one in "
        f"{len(ahead)} of {all_cells} cells: {places(ahead)}. Everywhere else λ = 0.0001 asks for more noise than the "
        "longer steps are worth; what the thesis's curves gain there rests on the refuted division (grey dotted line)."
    )


def covertype_words(found: dict[str, dict[int, Found]]) -> str:
    """The thesis's two sentences on Covertype."""
    tests = next(tests for name, tests in found.items() if name.startswith("Covertype"))
    words = []
    for test, lines in tests.items():
        gap = mean(lines[NOISELESS][0.05]) - mean(lines[BOLT_ON][0.05])
        words.append(f"{gap:.3f} in test {test}")
    late = [
        f"{mean(tests[test][NOISELESS][0.4]) - mean(tests[test][BST14][0.4]):.3f} in test {test}"
        for test in (2, 4)
        if 0.4 in tests[test].get(BST14, {})
    ]
    return (
        '**Covertype.** "The accuracy of our algorithms is close to the baseline at around ε = 0.05": the distance to '
        f'the noiseless line there is {", ".join(words)}. "BST14 approaches the baseline only after ε = 0.4": at 0.4 '
        f"its distance is {', '.join(late)} (negative: above it, for the noiseless line of test 2 has not converged)."
    )


def better_words(found: dict[str, dict[int, Found]], majority: float) -> str:
    """Noise that seems to help, and accuracy that says little."""
    pairs = list(cells(found, BOLT_ON, NOISELESS))
    above = [f"{name} test {test} ε = {e:g}" for name, test, e, ours, plain in pairs if ours > plain]
    lines = next(tests for name, tests in found.items() if name == "Protein")
    best = max(
        mean(values)
        for each in lines.values()
        for name, series in each.items()
        if name in (BOLT_ON, OUR_STEP, SCS13, BST14)
        for values in series.values()
    )
    where = "below" if best < majority else "above"
    return (
        f'"In some cases our private algorithms yield better test accuracy than the baseline": {len(above)} of '
        f'{len(pairs)} cells ({places(above)}). On Protein the constant answer "no" scores {majority:.3f}; the best '
        f"sound private line there has {best:.3f}, {where} it. Accuracy says little on that table, in the thesis's "
        "figure too."
    )


def our_step_words(found: dict[str, dict[int, Found]]) -> str:
    """What the step is worth."""
    pairs = list(cells(found, OUR_STEP, BOLT_ON))
    ahead = sum(ours > theirs for *_, ours, theirs in pairs)
    gain = max(ours - theirs for *_, ours, theirs in pairs)
    loss = min(ours - theirs for *_, ours, theirs in pairs)
    return (
        f"**Our step.** Without a penalty, a run that ends where going on would cost more noise than it gains is "
        f"ahead "
        f"of the thesis's step of 1/sqrt(m) in {ahead} of {len(pairs)} cells, by up to {gain:.3f}; at worst it is "
        f"{max(-loss, 0.0):.3f} behind."
    )


def growth_words(growth: dict[str, dict[int, float]]) -> str:
    """How noise depends on the number of rows."""
    convex = [tests[t] for tests in growth.values() for t in (1, 2)]
    strong = [tests[t] for tests in growth.values() for t in (3, 4)]
    return (
        f"**Rows.** A tenth of the rows makes the noise of tests 1 and 2 {min(convex):.2f} to {max(convex):.2f} times "
        "larger (as 1/sqrt(m): the step is 1/sqrt(m), and one row moves the result by 2k/(b sqrt(m))), that of "
        "tests 3 "
        f"and 4 {min(strong):.1f} to {max(strong):.1f} times (as 1/m once the steps have left their cap)."
    )


WORDS_REFUTED = """\
The thesis divides the sensitivity of Algorithm 2 by the batch size. With t counting batches there are
b times fewer steps, so the last step is b times larger, and the two cancel: up to 2L/(λm) for every b. The table
replaces one row (label +1 by -1), trains twice in the same order, and measures."""


def refuted_words(neighbours: Sequence[tuple[str, int, list[float]]]) -> str:
    """What the neighbours show."""
    broken = [f"{name}, b = {b}" for name, b, (printed, moved, _) in neighbours if moved > printed]
    kept = [f"{name}, b = {b}" for name, b, (printed, moved, _) in neighbours if moved <= printed]
    worst = max(moved / printed for _, _, (printed, moved, _) in neighbours)
    sound = all(moved <= proved for _, _, (_, moved, proved) in neighbours)
    return (
        f"The result moves farther than the printed bound says any row can move it for {places(broken)}; not for "
        f"{places(kept)}. The prescribed noise is too small by a factor of up to {worst:.1f} at least, and for "
        f"whoever "
        "knows the order a pure ε becomes that many times ε. The proved bound "
        + ("holds in every line." if sound else "DOES NOT HOLD.")
        + " The division is right without a penalty, where printed and proved sensitivity agree."
    )


def figure_33(passes: Passes, repeats: Repeats) -> tuple[list[str], str]:
    """Printed beside ours, and what the panels say."""
    a, b, c = passes.values()
    lines = [
        "| at ε = 4 | passes | b | printed | ours | one run scatters by | 95 % of single runs | printed is |",
        "|---|---:|---:|---:|---:|---:|---|---|",
    ]
    for (panel, k, batch), printed in FIGURE_33.items():
        values = repeats.get((k, batch), [])
        if len(values) < 2:
            continue
        low, high = one_more(values, level=0.95)
        inside = "inside" if rounded_inside(printed, low, high) else "outside"
        lines.append(
            f"| {panel} | {k} | {batch} | {printed:.2f} | {mean(values):.3f} ({mean(values) - printed:+.3f}) "
            f"| {np.std(values, ddof=1):.3f} | {low:.3f} to {high:.3f} | {inside} |"
        )
    first, last = (mean(a[f"{k} passes"][4.0]) for k in (1, 20))
    small, large = (mean(c[f"b = {size}"][4.0]) for size in (1, 10))
    one, twenty = (mean(b[f"{k} passes"][4.0]) for k in (1, 20))
    panel_b = "falls" if twenty < one else "rises"
    runs = min((len(values) for values in repeats.values()), default=0)
    words = (
        f"The table is made of {runs} runs, each with a random projection, an order and noise of its own, because the "
        "thesis prints one run and does not say through which projection: its number agrees if it is one that another "
        "of our runs could have given (Student's prediction interval, widened by the rounding of what is printed).\n\n"
        f"(a) Without a penalty more passes mean more noise: accuracy "
        f"{'falls' if last < first else 'does not fall'}, as the thesis "
        f"found. (b) With a penalty the thesis found that more passes help, because the noise does not grow. With the "
        f"sound noise accuracy {panel_b} from {one:.3f} after one pass to {twenty:.3f} after 20: as long as steps are "
        "capped at 1/β the proved sensitivity grows with every pass. (c) Larger batches "
        f"{'help' if large > small else 'do not help'} without a penalty, as "
        "the thesis found: the step stays 1/sqrt(m), and one row moves it by 1/b of that."
    )
    return lines, words


def bst_words(found: dict[str, dict[int, Found]], not_run: dict[str, list[float]]) -> str:
    """Why BST14 does what it does at small epsilon."""
    least = {name: min(each) for name, each in not_run.items() if each}
    left_out = "; ".join(
        f"{name} ε = {', '.join(f'{e:g}' for e in each)}" for name, each in not_run.items() if each
    )
    jumps = [
        f"{name} test {test}: {mean(line[low]):.3f} at ε = {low:g}, {mean(line[high]):.3f} at ε = {high:g}"
        for name, tests in found.items()
        for test, lines in tests.items()
        if len(line := lines.get(BST14, {})) > 1
        for low, high in (max(pairwise(line), key=lambda pair: mean(line[pair[1]]) - mean(line[pair[0]])),)
    ]
    where = f"is not run there ({left_out})" if least else "is run everywhere"
    return (
        "The Rényi bound for sampling without replacement that BST14 is accounted by has terms that do not vanish "
        "however large the noise, so below some ε nothing of the sampling is left and the noise jumps; where no order "
        f"up to 512 leaves anything of the budget it {where}. The largest step between neighbouring ε: "
        f"{places(jumps)}. That says more about the bound than about the algorithm. The pink dotted line is BST14 with "
        "the printed composition and the printed sensitivity 1 (a replaced row moves a gradient of the logistic loss "
        "by 2, so its noise is half of what its own proof asks for, and it is not private at the ε it is drawn at); "
        "batches, which the thesis does not print, get that noise on their sum."
    )


def page(
    shapes: dict[str, str],
    found: dict[str, dict[int, Found]],
    epsilons: dict[str, Sequence[float]],
    neighbours: Sequence[tuple[str, int, list[float]]],
    passes: Passes,
    places_33: Sequence[float],
    repeats: Repeats,
    *,
    growth: dict[str, dict[int, float]],
    not_run: dict[str, list[float]],
    seeds: int,
    seed: int,
    majority: float,
    store: Store,
) -> list[str]:
    """The generated Markdown."""
    lines = ["# Wu 2016, figures 3.2 and 3.3: bolt-on SGD against its rivals, at full size", ""]
    lines += [
        f"Made by `python -m studies.reproductions.001_bolt_on`, seed {seed}: "
        f"{store.total_seconds / 3600:.1f} CPU hours on "
        f"one core, {store.memory}.",
        "",
        HEAD,
        "",
    ]
    lines += [f"- {name}: {shape}; bolt-on {seeds} seeds, the others 1" for name, shape in shapes.items()]
    lines += store.left_words()
    lines += ["", "## The printed mini-batch bound, measured", ""]
    lines += ["| table | b | printed Δ | measured movement | proved Δ | measured / printed |"]
    lines += ["|---|---:|---:|---:|---:|---:|"]
    for name, batch, (printed, moved, proved) in neighbours:
        lines.append(
            f"| {name} | {batch} | {printed:.4g} | {moved:.4g} | {proved:.4g} | {moved / printed:.1f} |"
        )
    lines += ["", WORDS_REFUTED + " " + refuted_words(neighbours), ""]
    lines += ["## Figure 3.2: accuracy against ε", "", "![](../../../docs/figures/bolt_on_accuracy.svg)", ""]
    for name, tests in found.items():
        for test, results in tests.items():
            lines += [f"### {name}, {TESTS[test]}", "", *table("ε", epsilons[name], results), ""]
    for words in (
        against(found, SCS13, TIMES_SCS13),
        against(found, BST14, TIMES_BST14),
        penalty_words(found),
        covertype_words(found),
        our_step_words(found),
        growth_words(growth),
        better_words(found, majority),
        bst_words(found, not_run),
    ):
        lines += [words, ""]
    lines += [
        "## Figure 3.3: passes and batches (MNIST, bolt-on)",
        "",
        "![](../../../docs/figures/bolt_on_passes.svg)",
        "",
    ]
    for title, parts in passes.items():
        lines += [f"### {title}", "", *table("ε", places_33, parts), ""]
    beside, words = figure_33(passes, repeats)
    return [*lines, *beside, "", words]

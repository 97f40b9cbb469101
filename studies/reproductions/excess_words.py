"""The page on Micali 2022, tables 3.1 and 3.2: its tables, and sentences that are made from the numbers in them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from studies.reproductions.seed_tables import Means, listed, means

SGD, FW, FW_LOOSE = "DP-SGD", "DP-FW", "DP-FW with the thesis's constant (sound, loose)"
SGD_PEOPLE, FW_PEOPLE = "DP-SGD, population", "DP-FW, population"
PRINTED: dict[str, tuple[dict[str, float], dict[str, float]]] = {
    SGD: ({"3.1": -1.0, "3.2": -0.5}, {"3.1": 0.5}),
    FW: ({"3.2": -0.5}, {"3.2, log d": 0.0}),
    FW_LOOSE: ({"3.2": -0.5}, {"3.2, log d": 0.0}),
    SGD_PEOPLE: ({"3.1, two lines": -0.5}, {"3.1, two lines": 0.5}),
    FW_PEOPLE: ({}, {}),
}
"""Exponents of n and of d, by the table that prints them."""

HEAD = """Logistic regression, ε = 1, δ = 1e-6, adjacency `zero_out`; rows of L2 norm 1 with ten entries of
±1/sqrt(10) whatever d, labels that depend on one coordinate. DP-SGD runs over the L2 ball of radius 10
(Poisson rate 0.05, 200 steps, numeric accounting, step min(4, R/(noise sqrt(T))), the mean of the last
half), DP-FW over the L1 ball of radius 10 (T* steps, exponential mechanism in zCDP). Entries are excess
empirical risks over the least risk on the method's own set, mean ± standard deviation over the repeats; *population* is
the excess of the same weights over those that the labels are drawn from, for 20,000 people of the same law who were not
trained on. Risk 0.69 is that of knowing nothing. The step and the averaging of DP-SGD were chosen after a first try
with the textbook step, in which optimisation error dominated; DP-FW got no such second try, so that DP-SGD is ahead is
partly that choice."""
LOOSE = """The third line spends the share of the budget at which each choice has the noise of the thesis's theorem 25,
9.3 times what is needed (T* is chosen anew for it): sound, and {least:.1f} to {most:.1f} times the excess risk. The
thesis's DP-SGD noise, 32 N² log(N/δ) log(1/δ)/ε² used as a standard deviation (5.9e7 at N = 100), is not drawn: nothing
is learnt under it."""


def slope_rows(slopes: Mapping[str, tuple[float, float]]) -> list[str]:
    """Ours, the printed ones, and how far ours lie from them."""

    def beside(own: float, printed: Mapping[str, float]) -> str:
        return "; ".join(f"{value:g} ({where}): {own - value:+.2f}" for where, value in printed.items())

    lines = [
        "| line | slope in n | printed in tables 3.1, 3.2: ours less that | slope in d | printed: ours less that |",
        "|---|---:|---|---:|---|",
    ]
    for name, (in_n, in_d) in slopes.items():
        by_n, by_d = PRINTED[name]
        lines.append(f"| {name} | {in_n:.2f} | {beside(in_n, by_n)} | {in_d:.2f} | {beside(in_d, by_d)} |")
    return lines


def against(own: float, printed: float) -> str:
    """Whether a power of n falls as fast as a printed one."""
    return (
        "faster than"
        if own < printed - 0.05
        else "slower than"
        if own > printed + 0.05
        else "about as fast as"
    )


def count_words(slopes: Means) -> str:
    """Against n."""
    sgd, fw, people = (slopes[name]["slope in n"] for name in (SGD, FW, SGD_PEOPLE))
    curved = " (the loss curves around its minimum, and the bounds do not know that)" if sgd < -1.05 else ""
    between = "between" if -1.0 <= fw <= -2 / 3 else "outside of what lies between"
    return (
        f"DP-SGD falls as n^({sgd:.2f}), {against(sgd, -1.0)} the 1/n of table 3.1 for empirical risk{curved}, and "
        f"{against(sgd, -0.5)} the 1/sqrt(n) of table 3.2. DP-FW with T* steps falls as n^({fw:.2f}), {between} "
        "n^(-2/3), what its bound gives when T is chosen well, and 1/n; table 3.2 fixes T = N, which makes it "
        f"1/sqrt(n). On the population DP-SGD falls as n^({people:.2f}), {against(people, -0.5)} the 1/sqrt(n) of the "
        "two lines of table 3.1 for it, which hold for every convex loss and every law; this law's labels come from "
        "the model that is fitted."
    )


def dimension_words(by_dimension: Means, slopes: Means) -> str:
    """Against d."""
    at = list(by_dimension[SGD])
    first, last = at[0], at[-1]
    worse = {name: by_dimension[name][last] / by_dimension[name][first] for name in (SGD, FW)}
    factor = float(last) / float(first)
    ahead = [d for d in at if by_dimension[SGD][d] < by_dimension[FW][d]]
    shows = "shows" if worse[SGD] > 2.0 * worse[FW] else "does not show"
    gap = by_dimension[FW][last] / by_dimension[SGD][last]
    difference = slopes[SGD]["slope in d"] - slopes[FW]["slope in d"]
    meet = float(last) * gap ** (1.0 / difference) if difference > 0 and gap > 1.0 else math.nan
    beyond = (
        f"if the slopes went on the lines would meet at about {round(meet, -int(math.log10(meet))):,.0f} coordinates"
        if math.isfinite(meet)
        else "the lines have met already or never will"
    )
    corners = math.log(2 * float(last)) / math.log(2 * float(first))
    better = "holds" if gap < 1.0 else "does not hold"
    return (
        f"The tables' crucial difference {shows}: {factor:g} times more coordinates make DP-SGD {worse[SGD]:.1f} times "
        f"worse (sqrt(d), the Gaussian mechanism's: {math.sqrt(factor):.0f}) and DP-FW {worse[FW]:.1f} times (the "
        f"logarithm of the number of corners: {corners:.1f}). But slopes "
        f'are not levels: DP-SGD is ahead at d = {listed(ahead)}, and {beyond}. "FW is expected to perform better on '
        f'highly dimensional data" {better} at d = {last}: {by_dimension[FW][last]:g} against '
        f"{by_dimension[SGD][last]:g}."
    )


def loose_words(by_count: Means) -> str:
    """What the loose constant costs."""
    ratios = [by_count[FW_LOOSE][n] / by_count[FW][n] for n in by_count[FW]]
    return LOOSE.format(least=min(ratios), most=max(ratios))


def page(found: Mapping[str, Sequence[str]], made: str) -> list[str]:
    """The Markdown, from its tables by heading."""
    by_n, by_d, slopes = (
        next(title for title in found if title.startswith(word))
        for word in ("Against n", "Against d", "Slopes")
    )
    parts = {title: means(found[title]) for title in (by_n, by_d, slopes)}
    lines = ["# Micali 2022, tables 3.1 and 3.2: excess risk of DP-SGD and DP-FW", "", made, "", HEAD, ""]
    lines += ["![](../../../docs/figures/excess_risk.svg)", ""]
    lines += [f"## {by_n}", "", *found[by_n], "", count_words(parts[slopes]), ""]
    lines += [f"## {by_d}", "", *found[by_d], "", dimension_words(parts[by_d], parts[slopes]), ""]
    return [*lines, "## Slopes", "", *found[slopes], "", loose_words(parts[by_n])]

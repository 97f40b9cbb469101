"""What the page on Micali 2022, figures 4.1 to 4.25, says in words: sentences are made from the numbers beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from studies.reproductions.seed_attack import PLAIN

Values = Mapping[tuple[str, float], Sequence[float]]


class Measured(Protocol):
    """What was measured in one panel."""

    @property
    def setting(self) -> Any:
        """Its title and epsilons."""

    @property
    def accuracy(self) -> Mapping[str, Values]:
        """Of the attack, by rule."""

    @property
    def success(self) -> Values:
        """Of the model."""


def _away(found: Iterable[Measured], rules: Iterable[str], *, plain: bool, at: float | None = None) -> float:
    """The largest distance of a mean accuracy from one half, in points."""
    return max(
        100.0 * abs(float(np.mean(values)) - 0.5)
        for each in found
        for rule in rules
        for (learner, epsilon), values in each.accuracy[rule].items()
        if (learner == PLAIN) == plain and (at is None or epsilon == at)
    )


def _coin(points: float) -> str:
    return "a coin toss" if points < 2.0 else "more than a coin toss"


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


HEAD = """\
The thesis trains a model on N records, adds N others from the same law, lets an attack say who was trained on,
and plots its accuracy against ε. Here are the same questions with sound noise: DP-SGD (Poisson rate 0.1, 100
steps, numeric accounting; for three classes noisy gradient descent on all rows, because DP-SGD here has one
output) and DP-FW (T* steps, at most 400 for N = 10,000, exponential mechanism in zCDP), both with (ε, 1e-6)
for a record that is blanked out. A non-member is a member replaced by somebody else, so the promise counts
twice in front of the attacker: the red line is the accuracy that (2ε, (1 + e^ε) 1e-6) leaves to *any* attack,
for all it knows about the others.

Every number is a mean over independently drawn data sets and independently trained models (20, or 10 for N =
10,000 and p = 10,000), with a 95 % interval over these models: records judged by one model depend on each
other, so counting them says nothing about the training (soundness, section 14). The thesis shows averages over
ten runs and their highest and lowest value. Algorithm 5 is used with its pool of 2N records of which the N
lowest losses are called members (N/2 is printed)."""


def lasso_words(found: Sequence[Measured], rule: str) -> str:
    """Figures 4.1 to 4.8."""
    plain, private = (_away(found, [rule], plain=each) for each in (True, False))
    small = found[0]
    useless = sorted(
        {e for (name, e), values in small.success.items() if name != PLAIN and _mean(values) < 0.1}
    )
    said = ", ".join(f"{e:g}" for e in useless) or "none"
    return (
        'The thesis reads its figures so: the averages are "usually slightly less than 50 %. This proves and '
        "measures the "
        'protection of DP", and the attack levels out around ε = 1 in a "log-trend". The attack on the model '
        "*without* "
        f"privacy is {_coin(plain)} too, within {plain:.1f} points of 50 %; on private models it is within "
        f"{private:.1f}. Least squares with eleven weights and a thousand records does not overfit enough for a "
        f"loss to "
        "show it. Where there is nothing to protect from *this attack* a private model cannot do better, and an "
        "accuracy "
        'below one half is noise, not protection. That small ε gives "unreliable" results is the model, not the '
        "attack: "
        f"with N = 1,000 some learner explains less than a tenth of the variance at ε = {said}. What a private model "
        "gains is the red line, which holds against attacks that nobody has tried; what it pays is in the second "
        "table."
    )


def logistic_words(found: Sequence[Measured], rule: str) -> str:
    """Figures 4.9 to 4.15."""
    ends = [
        (each.setting.title, _mean(each.success[(PLAIN, float("inf"))])) for each in (found[0], found[-1])
    ]
    last = max(e for name, e in found[-1].success if name != PLAIN)
    losses = [
        _mean(found[-1].success[(PLAIN, float("inf"))]) - _mean(values)
        for (name, e), values in found[-1].success.items()
        if name != PLAIN and e == last
    ]
    return (
        'The thesis finds that private learning "gets less effective, until it completely fails for 60 % overlapping". '
        f"Without privacy {ends[0][1]:.2f} are classified rightly at {ends[0][0]} and {ends[1][1]:.2f} at "
        f"{ends[1][0]}: "
        f"overlap changes how well classes can be told apart. What privacy costs at {ends[1][0]} and ε = {last:g} is "
        f"{min(losses):.2f} to {max(losses):.2f}. The attack stays within {_away(found, [rule], plain=False):.1f} "
        f"points "
        f"of 50 % on private models and within {_away(found, [rule], plain=True):.1f} without privacy: a line through "
        "two-dimensional data has three numbers and cannot remember three hundred people. Differences between "
        "DP-FW and "
        'DP-SGD as privacy ("FW guarantees more privacy") are differences between noise: both carry the same promise.'
    )


def threshold_words(found: Sequence[Measured], rules: Sequence[str]) -> str:
    """Figures 4.16 to 4.18."""
    away = max(_away(found, rules, plain=each) for each in (True, False))
    return (
        "The thesis's τ is the mean of the mean entropies of members and of non-members, as it says itself "
        '"nullifying all efforts": whoever computes it knows the answer already. An honest attacker takes τ from a '
        "shadow model that was trained in the same way on other data, or calls the lower half members. All three are "
        f"{_coin(away)} here, within {away:.1f} points of 50 %. The thesis's τ = max H calls everybody a member and is "
        "right in exactly half of the cases, whatever the model; that is arithmetic and needs no figure."
    )


def dimension_words(found: Sequence[Measured], rule: str) -> str:
    """Figures 4.19 and 4.20."""
    _, easy, hard = found
    plain = {each.setting.title: 100 * _mean(each.accuracy[rule][(PLAIN, float("inf"))]) for each in found}
    one = _away([easy, hard], [rule], plain=False, at=1.0)
    five = {
        each.setting.title: max(
            100 * _mean(values)
            for (name, e), values in each.accuracy[rule].items()
            if name != PLAIN and e == 5.0
        )
        for each in (easy, hard)
    }
    return (
        '"Easy" is the thesis\'s law with its 20 % on each of 10,000 axes: the classes lie far apart. "Hard" has '
        "boxes that "
        "share 20 % of their volume, which on each axis is nearly everything: there is no class to learn, and a "
        "model of "
        "10,001 weights can learn 300 people by heart. Without privacy the attack is right for "
        + ", ".join(f"{value:.1f} % ({title})" for title, value in plain.items())
        + f". With a promise of ε = 1 it is {_coin(one)} at p = 10,000, within {one:.1f} points of 50 %; at ε = 5 it "
        "reaches "
        + ", ".join(f"{value:.1f} % ({title})" for title, value in five.items())
        + ". The promise allows almost everything there, so that little returns is a property of this attack, not of "
        "the promise."
    )


def multinomial_words(found: Sequence[Measured], rule: str) -> str:
    """Figures 4.21 to 4.25."""
    plain, private = (_away(found, [rule], plain=each) for each in (True, False))
    return (
        '("DP-SGD" is noisy descent on all rows here.) The thesis reports "a very high accuracy" of the attack without '
        "privacy when classes lie apart, that differential privacy lowers to 50 or 55 %, and that it drops by ten "
        "points "
        "where classes overlap. With members and others from one law the attack on nine numbers fitted to 300 "
        "people is "
        f"{_coin(plain)}: within {plain:.1f} points of 50 % without privacy, within {private:.1f} with it. An "
        f"accuracy "
        "far above one half for a model this small means that the two groups differed before anything was trained, "
        "which "
        "is the first thing to rule out: members and non-members may simply differ."
    )


DELTA_WORDS = """\
The thesis fixes δ = exp(-ε³N) "in all experiments", because that satisfies log(1/δ) ≥ ε²T for T = Nε. It
decides what its figures show, twice. **At small ε it is no promise:** for N = 300 and ε = 0.1 it is 0.74,
which allows publishing the data outright three times in four, and an attack that is right in 88 % of all
cases. That is the part of the axis on which the thesis finds its results "meaningless". **At larger ε the noise
grows:** λ = 16 L C sqrt(2 T log(1/δ))/(Nε) with T = Nε becomes 16 sqrt(2) L C ε = 22.6 L C ε, whatever N:
*more* ε means *more* noise in every choice. Curves that level out at ε around 1 say nothing about privacy
there. With a fixed δ well below 1/N the noise falls with ε, as it should (last column; the constant 16 itself
is nine times what is needed: soundness, section 8)."""

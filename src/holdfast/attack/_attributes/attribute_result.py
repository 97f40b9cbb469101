"""AttributeResult: how well one column is guessed with a release and without.

In the picture of a proof an attribute attack is one point: a right guess about a member against a right guess about a
fresh person, exactly as a membership test's detection against its false alarms. So the dossier draws it there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast._arguments import Seed, checked
from holdfast.attack._attributes.outcome import Gain, GroupRisk, MemberGap, RightGuesses, Surest
from holdfast.attack._proof import REASONS, Game, Proof, Verdict, proved_curve
from holdfast.attack._report import NOTICE, SHOWN_RATES, AttackReport, AttackResult
from holdfast.attack._rows.disclosure_result import DisclosureResult
from holdfast.errors import ParameterError, require
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._tradeoff import TradeOff, clopper_pearson_lower, clopper_pearson_upper
from holdfast.privacy._wording import up_to

UNLIMITED = (
    "epsilon does not limit this: what holds for people in general can be guessed about anybody, in the data or not; "
    "a proof bounds only how much better members are guessed than others"
)
PLAIN_NAME = "inversion"
"""The name by which a dossier recognises that model inversion was tried."""


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class AttributeResult(AttackResult):
    """How often one sensitive column is guessed, with the release and without. Private data: for the owner only.

    The first attack and the largest number of own people are what figures are given of; both were fixed in advance.

    Parameters
    ----------
    sensitive : str
        The column, or the columns.
    knows : tuple of str
        The columns that the attacker knows.
    kinds : int
        How many candidate values there are.
    imputer : mapping
        Who is guessed right without the release, by the number of the attacker's own people.
    attacks : mapping
        The same with the release, by attack.
    surest_k : int
        How many of the surest guesses are looked at.
    groups : tuple
        Groups of people to whom the release may add risk.
    skipped, notes : mapping
        Attacks that could not be made and why; and what a reader must know.
    game : str
        Who chose the members: "given", the data's owner, or "flipped", coins of holdfast.
    adjacency : Adjacency
        How they were chosen.
    proved : TradeOff, optional
        What the proof allows.
    confidence : float
        Of all limits.
    seconds : float
        How long it took.
    seed : int, optional
        Of the permutations behind the p-value of the surest guesses.
    disclosure : AttackReport, optional
        Singling out, linking and inferring, where rows were released; shown with the first column of a report.

    Examples
    --------
    >>> import numpy as np
    >>> right = RightGuesses(
    ...     members=np.arange(10) < 9, fresh=np.arange(10) < 6, members_sure=np.ones(10), fresh_sure=np.ones(10)
    ... )
    >>> gene = AttributeResult(
    ...     sensitive="gene", knows=("age",), kinds=2, imputer={50: right}, attacks={"bayes": {50: right}}, surest_k=5
    ... )
    >>> gene.attack, round(gene.gap().value, 2), gene.gain().value
    ('inversion: gene', 0.3, 0.0)
    """

    sensitive: str
    knows: tuple[str, ...]
    kinds: int
    imputer: Mapping[int, RightGuesses]
    attacks: Mapping[str, Mapping[int, RightGuesses]]
    surest_k: int
    groups: tuple[GroupRisk, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    game: Game = "given"
    adjacency: Adjacency = Adjacency.replace
    proved: TradeOff | None = None
    seed: Seed | None = None
    disclosure: AttackReport[DisclosureResult] | None = None
    """Singling out, linking and inferring, where rows were released; shown with the first column of a report."""
    attack: str = field(init=False)
    """The name that a dossier shows."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "attack", f"{PLAIN_NAME}: {self.sensitive}")
        require(len(self.attacks) >= 1, "attacks", len(self.attacks), "one or more")
        require(len(self.imputer) >= 1, "sizes", len(self.imputer), "one or more")

    @property
    def headline(self) -> str:
        """The attack that figures are given of, unless another is named."""
        return next(iter(self.attacks))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many people of the attacker's own were tried."""
        return tuple(self.imputer)

    def outcome(self, attack: str | None = None, size: int | None = None) -> RightGuesses:
        """Who an `attack`, or the "imputer", guesses right with `size` own people; by default the headline figures."""
        name = attack or self.headline
        own_people = self.sizes[-1] if size is None else size
        outcomes = self.imputer if name == "imputer" else self.attacks.get(name)
        if outcomes is None or own_people not in outcomes:
            raise ParameterError(
                f"there is no outcome of {name!r} at {own_people}; attacks are {', '.join(self.attacks)} and "
                f"'imputer', sizes {', '.join(map(str, self.sizes))}"
            )
        return outcomes[own_people]

    def gain(self, attack: str | None = None, size: int | None = None) -> Gain:
        """What the release adds: how much more often an `attack` is right than the imputer, on fresh people.

        The `size` is how many values were possible where that was varied; by default the largest.
        """
        return Gain.of(
            self.outcome(attack, size).fresh, self.outcome("imputer", size).fresh, confidence=self.confidence
        )

    def gap(self, attack: str | None = None, size: int | None = None) -> MemberGap:
        """How much more often an `attack` is right about members than about fresh people; `size` as in `gain`."""
        outcome = self.outcome(attack, size)
        return MemberGap.of(outcome.members, outcome.fresh, confidence=self.confidence)

    def widest_gap(self) -> tuple[str, MemberGap]:
        """The attack by which members stand out most, and its gap; the error of the limits is shared among all."""
        share = 1.0 - (1.0 - self.confidence) / len(self.attacks)
        outcomes = {name: self.outcome(name) for name in self.attacks}
        gaps = {
            name: MemberGap.of(outcome.members, outcome.fresh, confidence=share)
            for name, outcome in outcomes.items()
        }
        widest = max(gaps, key=lambda name: gaps[name].low)
        return widest, gaps[widest]

    def surest(self, attack: str | None = None, size: int | None = None) -> Surest:
        """How often an `attack` is right about the k people that it is surest of; `size` as in `gain`."""
        return Surest.of(
            self.outcome(attack, size), k=self.surest_k, confidence=self.confidence, seed=self.seed or 0
        )

    # The figures that a dossier shows.
    @property
    def auc(self) -> float:
        """The area under the one-point curve: one half where members are guessed as others are."""
        return 0.5 + 0.5 * self.gap().value

    def trade_off(self) -> TradeOff:
        """The test "guessed right, so a member", as a measured curve."""
        gap = self.gap()
        return TradeOff([0.0, gap.fresh, 1.0], [1.0, 1.0 - gap.members, 0.0], claim="measured")

    def tpr_at(self, false_alarm: float, /) -> float:
        """The share of members that this test finds at the rate false_alarm, with a coin between its points."""
        return self.trade_off().detection_at(false_alarm)

    def bound(self, claim: Proof | None = None) -> float | None:
        """The most that the claim, or the proof, allows on members, given what was reached on fresh people."""
        proved = self._curve(claim)
        return None if proved is None else self.gap().bound(proved)

    def verdict(self, claim: Proof | None = None, /) -> Verdict:
        """`warning` where some attack is above what the claim allows by exact limits; one model never refutes."""
        proved = self._curve(claim)
        if proved is None:
            return "unclaimed"
        return "warning" if self._above(proved, 1.0 - self.confidence) else "consistent"

    def p_value(self, claim: Proof | None = None, /) -> float:
        """The smallest error, shared among the attacks, at which the verdict on the claim is a warning."""
        proved = self._curve(claim)
        if proved is None or not self._above(proved, 1.0):
            return 1.0
        low, high = 1e-12, 1.0
        while high / low > 1.001:
            middle = (low * high) ** 0.5
            low, high = (low, middle) if self._above(proved, middle) else (middle, high)
        return high

    def _curve(self, claim: Proof | None) -> TradeOff | None:
        return self.proved if claim is None else proved_curve(claim, self.adjacency)

    def _above(self, proved: TradeOff, error: float) -> bool:
        share = error / (2 * len(self.attacks))
        for name in self.attacks:
            outcome = self.outcome(name)
            fresh = clopper_pearson_upper(int(outcome.fresh.sum()), outcome.fresh.size, error=share)
            members = clopper_pearson_lower(int(outcome.members.sum()), outcome.members.size, error=share)
            if members > proved.detection_at(fresh) + 1e-9:
                return True
        return False

    def summary(self, *, verdict: str | None = None) -> str:
        """The figures, what they mean and what they do not; `verdict` stands in the place of its own, if given."""
        stated_verdict = self.verdict() if verdict is None else verdict
        first = self.outcome()
        width = max(len(name) for name in ("imputer, no release", *self.attacks)) + 2
        lines = [
            f"guessing {self.sensitive} ({self.kinds} values) from {_name_list(self.knows)}: "
            f"{first.members.size} members, {first.fresh.size} fresh people",
            f"  {'own people':<{width}}" + "".join(f"{size:>16,}" for size in self.sizes),
            f"  {'imputer, no release':<{width}}" + self._accuracy_text(self.imputer),
            *(
                f"  {name:<{width}}" + self._accuracy_text(outcomes)
                for name, outcomes in self.attacks.items()
            ),
            f"  {'':<{width}}" + "".join(f"{'fresh / members':>16}" for _ in self.sizes),
            f"  what the release adds ({self.headline}, {self.sizes[-1]:,} own people): {self.gain().summary()}",
            f"  {UNLIMITED}",
            f"  members against fresh people: {self.gap().summary()}{self._bound_text()}",
            *self._widest_lines(),
            *self._surest_lines(),
            *self._group_lines(),
            *self._skipped_lines(),
            *(f"  {name}: {note}" for name, note in self.notes.items()),
            *(
                [f"  verdict: {stated_verdict}{REASONS.get((stated_verdict, self.game), '')}"]
                if stated_verdict
                else []
            ),
            f"  {NOTICE}",
            *([] if self.disclosure is None else [self.disclosure.summary()]),
        ]
        return "\n".join(lines)

    def _accuracy_text(self, outcomes: Mapping[int, RightGuesses]) -> str:
        return "".join(
            f"{float(outcomes[size].accuracy()):>8.3f} /{outcomes[size].member_accuracy():>6.3f}"
            for size in self.sizes
        )

    def _bound_text(self) -> str:
        bound = self.bound()
        return (
            ""
            if bound is None
            else f"; the proof allows {bound:.3f} on members where fresh people are at {self.gap().fresh:.3f}"
        )

    def goes_by(self, name: str) -> bool:
        """Whether `name` is the column, or the name that a dossier shows."""
        return name in (self.sensitive, self.attack)

    def strength(self) -> tuple[float, ...]:
        """The lower limit of the widest gap between members and fresh people."""
        return (self.widest_gap()[1].low,)

    def _widest_lines(self) -> list[str]:
        name, gap = self.widest_gap()
        if name == self.headline or gap.low <= 0:
            return []
        return [
            f"  members stand out most by {name}: {gap.summary()}; limits for all {len(self.attacks)} attacks together"
        ]

    def _skipped_lines(self) -> list[str]:
        by_reason: dict[str, list[str]] = {}
        for name, why in self.skipped.items():
            by_reason.setdefault(why, []).append(name)
        return [f"  not made: {', '.join(names)} ({why})" for why, names in by_reason.items()]

    def _surest_lines(self) -> list[str]:
        attack, imputer = self.surest(), self.surest("imputer")
        return [
            f"  of the {attack.k} people guessed surest, right: {attack.fresh.summary()} of fresh people, "
            f"{attack.members:.3f} of members (p = {attack.p_value:.2g}); the imputer's: {imputer.fresh.summary()}"
        ]

    def _group_lines(self) -> list[str]:
        at_risk = [risk for risk in self.groups if risk.at_risk]
        if not self.groups:
            return []
        head = f"  groups to whom the release adds risk ({len(self.groups)} looked at, Holm's rule): "
        return [
            head
            + (
                "; ".join(f"{risk.group} {risk.gain.summary()}, {risk.people} people" for risk in at_risk)
                or "none"
            )
        ]

    def plot(self) -> Any:
        """Accuracy against people of one's own, and members against the proof's bound (a matplotlib figure)."""
        from holdfast.attack._attributes.picture import attribute_figure

        return attribute_figure((self,))

    def to_json(self) -> dict[str, Any]:
        """The figures, without anybody's guess; a dossier reads them."""
        gap, surest = self.gap(), self.surest()
        curve = self.trade_off()
        return {
            "attack": self.attack,
            "audience": self.audience,
            "game": self.game,
            "members": self.outcome().members.size,
            "non_members": self.outcome().fresh.size,
            "auc": self.auc,
            "tpr_at": {
                f"{rate:g}": dict.fromkeys(("value", "low", "high"), self.tpr_at(rate))
                for rate in SHOWN_RATES
            },
            "roc": {"false_alarm": curve.false_alarm.tolist(), "found": (1.0 - curve.miss).tolist()},
            "confidence": self.confidence,
            "verdict": self.verdict(),
            "p_value": self.p_value(),
            "seconds": self.seconds,
            "text": self.summary(verdict=""),
            "notes": dict(self.notes),
            "attribute": {
                "sensitive": self.sensitive,
                "knows": list(self.knows),
                "sizes": list(self.sizes),
                "accuracy": {
                    name: [
                        {
                            "fresh": float(outcomes[size].accuracy()),
                            "members": outcomes[size].member_accuracy(),
                        }
                        for size in self.sizes
                    ]
                    for name, outcomes in {"imputer": self.imputer, **self.attacks}.items()
                },
                "gain": _numbers(self.gain()),
                "gap": {**_numbers(gap), "bound": self.bound()},
                "surest": {
                    "k": surest.k,
                    "fresh": float(surest.fresh),
                    "low": surest.fresh.low,
                    "high": surest.fresh.high,
                    "members": surest.members,
                    "p_value": surest.p_value,
                },
                "groups": [
                    {"group": risk.group, "people": risk.people, **_numbers(risk.gain)}
                    for risk in self.groups
                    if risk.at_risk
                ],
                "unlimited": UNLIMITED,
            },
        }

    # Several results in one report.
    @classmethod
    def table_of(cls, report: AttackReport[AttributeResult]) -> str:
        """One line for each column of the report."""
        first, width = report.results[0], max(len(result.sensitive) for result in report) + 2
        lines = [
            f"  {'column':<{width}}{'values':>7}{'own people':>12}{'imputer':>9}{'attack':>8}"
            f"{'the release adds':>26}{'members':>9}{'at most':>9}{'surest ' + str(first.surest_k):>24}"
        ]
        for result in report:
            bound = result.bound()
            imputer, attack = (float(result.outcome(name).accuracy()) for name in ("imputer", None))
            lines.append(
                f"  {result.sensitive:<{width}}{result.kinds:>7}{result.sizes[-1]:>12,}"
                f"{imputer:>9.3f}{attack:>8.3f}{result.gain().summary():>26}{result.gap().members:>9.3f}"
                f"{'' if bound is None else f'{up_to(bound):.3f}':>9}{result.surest().fresh.summary():>24}"
            )
        return "\n".join(lines)

    @classmethod
    def summary_of(cls, report: AttackReport[AttributeResult]) -> str:
        """All figures of a report on one column, or a table of several columns."""
        first = report.results[0]
        if len(report) == 1:
            return first.summary()
        head = (
            f"guessing one column from the others: accuracy on fresh people ({first.headline}), on members, "
            "and what the proof allows on members"
        )
        return "\n".join(
            [
                head,
                report.table(),
                f"  {UNLIMITED}",
                _widest_gaps_line(report),
                *(f"  {name}: {note}" for name, note in report.notes.items()),
                f"  verdict: {report.verdict()}",
                f"  {NOTICE}",
                *([] if report.disclosure is None else [report.disclosure.summary()]),
            ]
        )

    @classmethod
    def figure_of(cls, report: AttackReport[AttributeResult]) -> Any:
        """All columns of the report in one picture (a matplotlib figure)."""
        from holdfast.attack._attributes.picture import attribute_figure

        return attribute_figure(report.results)


def _widest_gaps_line(report: AttackReport[AttributeResult]) -> str:
    """A line about the columns that are guessed better for members than for others."""
    widest_gaps = [(result.sensitive, *result.widest_gap()) for result in report.results]
    listed = ", ".join(
        f"{column} {gap.value:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}] by {attack}"
        for column, attack, gap in widest_gaps
        if gap.low > 0
    )
    share = f"{100 * report.results[0].confidence:g} %"
    return (
        f"  members are guessed better than others by some attack, at {share} for each column alone: "
        f"{listed or 'nowhere'}"
    )


def _numbers(estimate: Gain | MemberGap) -> dict[str, float]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, "p_value": estimate.p_value}


def _name_list(names: tuple[str, ...]) -> str:
    return ", ".join(names) if len(names) <= 6 else f"{', '.join(names[:5])} and {len(names) - 5} more"

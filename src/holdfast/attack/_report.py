"""AttackReport: the results of several attacks of one kind; AttackResult: the base of every result.

Results and reports are functions of private data: they are for the owner of the data only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, TypeVar

from holdfast._arguments import checked
from holdfast.attack._attack import Kind
from holdfast.attack._proof import GRAVITY, Proof, Verdict
from holdfast.errors import ParameterError, require

SHOWN_RATES = (0.01, 0.001)
"""False-alarm rates that reports show."""
NOTICE = "INTERNAL: computed from real members, not private; do not publish"


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class AttackResult(ABC):
    """The result of one attack, or on an attribute of all attacks on one column; the base of all results.

    A result is one of `MembershipResult`, `AttributeResult` and `DisclosureResult`.

    Parameters
    ----------
    attack : str
        Its name in reports and on pages.
    confidence : float
        With which its limits hold.
    seconds : float
        How long it took.

    Examples
    --------
    >>> from holdfast.attack import MembershipResult
    >>> result = MembershipResult(attack="loss", member_scores=[3.0, 2.0], non_member_scores=[1.0, 0.2])
    >>> isinstance(result, AttackResult), result.audience
    (True, 'internal')
    """

    attack: str
    confidence: float = 0.95
    seconds: float = 0.0
    audience: ClassVar[Literal["internal"]] = "internal"

    def goes_by(self, name: str) -> bool:
        """Whether a report gives it under this name.

        Parameters
        ----------
        name : str
            What somebody asks a report for.
        """
        return self.attack == name

    @abstractmethod
    def verdict(self, claim: Proof | None = None, /) -> Verdict:
        """What it says about a claim, by default the proof that it was held against."""

    @abstractmethod
    def strength(self) -> tuple[float, ...]:
        """By what the attacks of a report are compared, the larger the stronger."""

    @abstractmethod
    def summary(self) -> str:
        """A few lines that a statistician can read."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The figures, without what belongs to anybody."""

    # Several results in one report.
    @classmethod
    @abstractmethod
    def table_of(cls, report: AttackReport[Any]) -> str:
        """One line for each result of the report."""

    @classmethod
    @abstractmethod
    def summary_of(cls, report: AttackReport[Any]) -> str:
        """The table of the report, what it means, and what was left out."""

    @classmethod
    @abstractmethod
    def figure_of(cls, report: AttackReport[Any]) -> Any:
        """All results of the report in one picture (a matplotlib figure)."""


R = TypeVar("R", bound=AttackResult)


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class AttackReport(Generic[R]):
    """Results of one kind of attacks, and why some could not be made. Internal, as its parts are.

    Parameters
    ----------
    kind : str
        What was attacked: "model", "rows", "attribute" or "disclosure".
    results : tuple of AttackResult
        In the order of `ATTACKS`; on attributes one for each sensitive column; of disclosure one for each statement.
    skipped : mapping
        Attacks that could not be made, and why.
    notes : mapping
        What a reader must know about an attack, by its name.
    models : int
        Reference models trained.
    disclosure : AttackReport, optional
        Of attacks on attributes by released rows: whether the rows also single people out, link or tell secrets.

    Examples
    --------
    >>> from holdfast.attack import MembershipResult
    >>> loss = MembershipResult(attack="loss", member_scores=[3.0, 2.0], non_member_scores=[1.0, 0.2])
    >>> report = AttackReport(kind="model", results=(loss,), skipped={"lira": "no references"})
    >>> report["loss"].auc, report.best().attack, report.verdict()
    (1.0, 'loss', 'unclaimed')
    """

    kind: Kind
    results: tuple[R, ...]
    skipped: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    models: int = 0
    disclosure: AttackReport[Any] | None = None
    audience: ClassVar[Literal["internal"]] = "internal"

    def __post_init__(self) -> None:
        object.__setattr__(self, "results", tuple(self.results))
        object.__setattr__(self, "skipped", dict(self.skipped))
        object.__setattr__(self, "notes", dict(self.notes))
        require(len(self.results) >= 1, "results", len(self.results), "one or more")
        sort = type(self.results[0])
        mixed = any(type(result) is not sort for result in self.results)
        require(not mixed, "results", "results of several kinds", "of one kind")

    def __iter__(self) -> Iterator[R]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, attack: str) -> R:
        for result in self.results:
            if result.goes_by(attack):
                return result
        known = ", ".join(result.attack for result in self.results)
        why = self.skipped.get(attack, f"there are results of {known}")
        raise ParameterError(f"there is no result for {attack!r}: {why}")

    def best(self) -> R:
        """The attack that reaches most. A choice in hindsight."""
        return max(self.results, key=lambda result: result.strength())

    def verdict(self, claim: Proof | None = None) -> Verdict:
        """The gravest of all; the error was shared among the attacks.

        Parameters
        ----------
        claim : Guarantee, PrivacyCurve or TradeOff, optional
            What the results are held against; by default the proof that each was held against.
        """
        return max((result.verdict(claim) for result in self.results), key=GRAVITY.index)

    def table(self) -> str:
        """One line per result."""
        return type(self.results[0]).table_of(self)

    def summary(self) -> str:
        """The table, what it means, and what was left out."""
        return type(self.results[0]).summary_of(self)

    def plot(self) -> Any:
        """All results in one picture (a matplotlib figure)."""
        return type(self.results[0]).figure_of(self)

    def to_json(self) -> dict[str, Any]:
        """The figures, without what belongs to anybody; a dossier reads them."""
        return {
            "kind": self.kind,
            "audience": self.audience,
            "verdict": self.verdict(),
            "models": self.models,
            "attacks": [result.to_json() for result in self.results],
            "skipped": dict(self.skipped),
            "notes": dict(self.notes),
            "disclosure": None if self.disclosure is None else self.disclosure.to_json(),
        }

"""Evidence from files: audits, attacks and scores as the commands wrote them, ready for a dossier."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from holdfast._plain_data import parse_json
from holdfast._regular_file import read_regular
from holdfast.audit._result import AuditResult
from holdfast.dossier._utility import Accuracy
from holdfast.errors import FormatError, require
from holdfast.privacy._guarantee import Guarantee
from holdfast.privacy._tradeoff import TradeOff

_MOST_EVIDENCE_BYTES = 16 * 2**20


class AttackFigures(Protocol):
    """The result of an attack, whichever it is."""

    @property
    def attack(self) -> str:
        """Its name."""

    @property
    def audience(self) -> str:
        """Who may see it."""

    @property
    def auc(self) -> float:
        """How well it ranks members before non-members."""

    def tpr_at(self, false_alarm: float, /) -> float:
        """The share of members found at this false-alarm rate."""

    def trade_off(self) -> TradeOff:
        """The measured curve."""

    def verdict(self, claim: Guarantee, /) -> str:
        """What it says about a claim: refuted, warning or consistent."""

    def p_value(self, claim: Guarantee, /) -> float:
        """The smallest error at which it says so."""

    def summary(self, *, verdict: str | None = None) -> str:
        """A few lines; `verdict` stands in the place of its own, where one is given."""


@dataclass(frozen=True, kw_only=True)
class StoredAttack:
    """An attack known by some points of its curve; between two of them an attacker can toss a coin.

    Its verdict is the one that was reached when it was run, against the promise of the model it attacked.
    """

    attack: str
    auc: float
    roc_points: tuple[tuple[float, float], ...]
    stored_verdict: str
    text: str
    """Its figures, without the verdict."""
    least_error: float = 1.0
    """The smallest error at which that verdict is reached, as far as is known."""
    audience: str = "internal"

    def __post_init__(self) -> None:
        require(0 <= self.auc <= 1, "auc", self.auc, "in [0, 1]")
        require(0 <= self.least_error <= 1, "least_error", self.least_error, "in [0, 1]")
        require(
            all(0 <= x <= 1 and 0 <= y <= 1 for x, y in self.roc_points),
            "roc_points",
            "...",
            "made of rates in [0, 1]",
        )

    def trade_off(self) -> TradeOff:
        """The curve through the stored points."""
        points = sorted({(0.0, 0.0), (1.0, 1.0), *self.roc_points})
        rates, detections = np.array(points).T
        return TradeOff(rates, 1.0 - np.maximum.accumulate(detections), claim="measured")

    def tpr_at(self, false_alarm: float, /) -> float:
        """The share of members found at this rate."""
        return self.trade_off().detection_at(false_alarm)

    def verdict(self, claim: Guarantee, /) -> str:
        """What was found when it was run."""
        return self.stored_verdict

    def p_value(self, claim: Guarantee, /) -> float:
        """The smallest error at which that was found; without it stored, the error that was allowed."""
        return self.least_error

    def summary(self, *, verdict: str | None = None) -> str:
        """The figures, and what was found or what was made of it since."""
        return f"{self.text}\n  verdict: {verdict or self.stored_verdict}"

    @classmethod
    def of(cls, data: Any) -> tuple[StoredAttack, ...]:
        """Every attack of a report, or the one of a single result; `FormatError` for anything else."""
        try:
            results_data = data.get("attacks", [data])
            is_disclosure = data.get("kind") == "disclosure"
            results = () if is_disclosure else tuple(cls._of_result(result) for result in results_data)
        except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise FormatError("a stored attack lacks a field or has one of the wrong kind") from error
        if is_disclosure:
            raise FormatError(
                "a disclosure report has no curve to draw; give what 'holdfast attack attribute --json' wrote about "
                "the same rows: it holds these attacks, and the page shows them in its own words"
            )
        return results

    @classmethod
    def _of_result(cls, data: Any) -> StoredAttack:
        curve = data["roc"]
        points = tuple(
            (float(x), float(y)) for x, y in zip(curve["false_alarm"], curve["found"], strict=True)
        )
        rates = "; ".join(
            f"finds {estimate['value']:.3f} [{estimate['low']:.3f}, {estimate['high']:.3f}] "
            f"at {100 * float(rate):g} % false alarms"
            for rate, estimate in data["tpr_at"].items()
        )
        return cls(
            attack=str(data["attack"]),
            auc=float(data["auc"]),
            roc_points=points,
            stored_verdict=str(data["verdict"]),
            least_error=float(data["p_value"]),
            text=str(data["text"])
            if "text" in data
            else f"attack {data['attack']}: AUC {data['auc']:.4f}, {data['members']} members, "
            f"{data['non_members']} non-members; {rates}",
        )


def read_audit(path: Path) -> AuditResult:
    """An audit as `holdfast audit --json` prints it, or as `AuditResult.to_json` writes it."""
    data = _parse_file(path)
    return AuditResult.from_json(data.get("result", data) if isinstance(data, dict) else data)


def read_attacks(path: Path) -> tuple[StoredAttack, ...]:
    """The attacks that `holdfast attack --json` wrote."""
    return StoredAttack.of(_parse_file(path))


def read_accuracy(path: Path) -> list[Accuracy]:
    """Scores on real records: a JSON list of {model, score, rows, measure}."""
    data = _parse_file(path)
    if not isinstance(data, list):
        raise FormatError(f"{path.name} must hold a JSON list")
    return [Accuracy.from_json(score) for score in data]


def _parse_file(path: Path) -> Any:
    data = read_regular(path, what="evidence", most_bytes=_MOST_EVIDENCE_BYTES)
    return parse_json(data, path.name, most_bytes=_MOST_EVIDENCE_BYTES, most_depth=40)

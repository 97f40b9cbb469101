"""Releases, ledgers, audits and attacks that tests of the dossier share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from holdfast._assumption import Assumption
from holdfast.audit._findings import FixedGuesses
from holdfast.audit._result import AuditResult
from holdfast.learn._estimators.linear_model import LinearModel
from holdfast.ledger import Ledger
from holdfast.privacy import Account, Adjacency, ApproxDP, Gaussian, PrivacyUnit
from holdfast.privacy._guarantee import Guarantee
from holdfast.privacy._tradeoff import TradeOff
from holdfast.release import Release
from holdfast.release._certificate import Certificate

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;{{7*7}}\u202e"


def counts(
    *,
    seed: int | None = None,
    name: str = "two counts",
    assumptions: Sequence[Assumption] = (),
    user: str | None = None,
) -> Release[np.ndarray]:
    """Two noisy counts, charged in memory."""
    unit = PrivacyUnit() if user is None else PrivacyUnit.user(user, max_rows=2)
    account = Account(ApproxDP(1.0, 1e-6), currency="gdp", unit=unit, seed=seed)
    value = account.release(Gaussian.within(account.limit, l2_sensitivity=1.0), [3, 4])
    claim = Certificate(name=name, statement=name, alpha=3.0, confidence=0.95, query_class=name)
    return Release.of(
        account, value, method=name, parameters={name: name}, assumptions=assumptions, certificates=[claim]
    )


def model(names: Sequence[str] = ("age", "sex"), *, noise: float | None = 0.1) -> Release[dict[str, object]]:
    """A linear model as a release stores it."""
    account = Account(ApproxDP(1.0, 1e-6), currency="gdp")
    weights = account.release(Gaussian(sigma=10.0, l2_sensitivity=1.0), np.arange(1.0, len(names) + 2))
    value: dict[str, object] = {
        "model": "PrivateLogisticRegression",
        "coef": weights[None, :-1],
        "intercept": weights[-1:],
        "row_norm": 1.0,
        "classes": ("no", "yes"),
        "feature_names": tuple(names),
        "noise_std": noise,
        "intercept_noise_std": noise,
        "noise_quantile": 1.96 if noise else None,
    }
    value = LinearModel(**value).value()  # type: ignore[arg-type]
    return Release.of(account, value, method="PrivateLogisticRegression, output")


@dataclass(frozen=True)
class Paid:
    """A release that a ledger paid for, and where both are."""

    release: Path
    ledger: Path


def paid(folder: Path, *, currency: str = "gdp", values: Sequence[float] = (12, 30)) -> Paid:
    """Two noisy counts, paid from a ledger with an approver and a purpose."""
    with Ledger.create(folder / "ledger.db") as ledger:
        ledger.dataset(
            "clinic",
            limit=ApproxDP(2.0, 1e-6),
            currency=currency,
            approver="R. Officer",
            purpose="yearly report",
        )
        account = ledger.account(
            "clinic", name="table 1", limit=ApproxDP(1.0, 1e-6), purpose="visits by month", approver="M. Head"
        )
        mechanism = Gaussian.within(account.limit, l2_sensitivity=1.0)
        noisy = account.release(mechanism, list(values), key="table 1")
        Release.of(account, {"visits": noisy}, method="two noisy counts").save(folder / "table.holdfast")
        ledger.close_account("table 1")
    return Paid(release=folder / "table.holdfast", ledger=folder / "ledger.db")


def audit(
    correct: int = 57,
    *,
    planted: str = "1000 records",
    coins: Literal["holdfast", "foreign"] = "holdfast",
    rows: Any = "generated",
) -> AuditResult:
    """A one-run audit with this many of 100 guesses right."""
    return AuditResult(
        finding=FixedGuesses(canaries=1000, guesses=100, correct=correct),
        delta=1e-6,
        planted=planted,
        coins=coins,
        adjacency=Adjacency.of("replace"),
        scores={"in_median": 0.25},
        rows=rows,
    )


@dataclass(frozen=True)
class FakeAttack:
    """An attack with a chosen verdict."""

    attack: str = "loss"
    state: str = "consistent"
    audience: str = "internal"
    auc: float = 0.53

    def trade_off(self) -> TradeOff:
        x = np.linspace(0, 1, 51)
        return TradeOff(x, (1 - x) ** 1.1, claim="measured")

    def tpr_at(self, false_alarm: float, /) -> float:
        return self.trade_off().detection_at(false_alarm)

    def verdict(self, claim: Guarantee, /) -> str:
        return self.state

    def p_value(self, claim: Guarantee, /) -> float:
        return 1e-6 if self.state == "refuted" else 1.0 if self.state == "consistent" else 1e-3

    def summary(self, *, verdict: str | None = None) -> str:
        return f"attack {self.attack}: AUC {self.auc}"

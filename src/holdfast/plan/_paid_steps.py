"""Steps that spend: a private model as by `holdfast fit`, and a synthetic table as by `holdfast synth`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from holdfast.plan._step import Setting, Step, StepOutcome, paid_outcome, rehearse_until_first_charge, spend
from holdfast.privacy._account.request import limit_of

if TYPE_CHECKING:
    from holdfast.data._table import Table
    from holdfast.ledger import Ledger
    from holdfast.privacy._account import Account
    from holdfast.privacy._curves.curve import PrivacyCurve
    from holdfast.release import Release


@dataclass(frozen=True, kw_only=True)
class SynthStep:
    """Synthetic rows, the noisy counts that they were drawn from, and a certificate, in one release file."""

    kind: ClassVar[str] = "synth"
    redrawn: ClassVar[bool] = False

    name: str
    output: str
    epsilon: float
    delta: float | None = None
    method: str = "auto"
    rows: int | None = None
    columns: tuple[str, ...] | None = None
    confidence: float = 0.95
    certificate_share: float = 0.1
    n_public: int | None = None

    def inputs(self) -> dict[str, str]:
        """No files besides those that all steps share."""
        return {}

    def limit(self) -> PrivacyCurve:
        """The promise that the settings ask for."""
        return limit_of(self.epsilon, self.delta, count=self.n_public)

    def stored_outcome(
        self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]
    ) -> StepOutcome | None:
        """The release that this step paid for, byte for byte as the ledger closed it."""
        return paid_outcome(self, setting, ledger)

    def check(self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]) -> None:
        """Refuse what would be refused before the first charge."""
        rehearse_until_first_charge(self, setting, ledger)

    def run(self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]) -> StepOutcome:
        """Synthesise and save."""
        return spend(self, setting, ledger)

    def make(self, table: Table, account: Account) -> Release[Any]:
        """Fit a synthesiser; its charges have a key, so that a run that was killed can go on."""
        from holdfast.synth import CertificateRequest, Synthesizer

        share = self.certificate_share
        synthesizer = Synthesizer(
            self.epsilon,
            self.delta,
            method=self.method,
            rows=self.rows,
            columns=self.columns,
            confidence=self.confidence,
            certificate=None if share == 0 else CertificateRequest(share=share),
            key=self.name,
        )
        release: Release[Any] = synthesizer.fit(table, account=account).release_
        return release


@dataclass(frozen=True, kw_only=True)
class FitStep:
    """A private model, as `holdfast fit` makes it."""

    kind: ClassVar[str] = "fit"
    redrawn: ClassVar[bool] = False

    name: str
    output: str
    target: str
    epsilon: float
    delta: float | None = None
    model: str | None = None
    method: str = "auto"
    row_norm: float | None = None
    penalty: float | None = None
    radius: float | None = None
    n_public: int | None = None

    def inputs(self) -> dict[str, str]:
        """No files besides those that all steps share."""
        return {}

    def limit(self) -> PrivacyCurve:
        """The promise that the settings ask for."""
        return limit_of(self.epsilon, self.delta, count=self.n_public)

    def stored_outcome(
        self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]
    ) -> StepOutcome | None:
        """The release that this step paid for, byte for byte as the ledger closed it."""
        return paid_outcome(self, setting, ledger)

    def check(self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]) -> None:
        """Refuse what would be refused before the first charge."""
        rehearse_until_first_charge(self, setting, ledger)

    def run(self, setting: Setting, ledger: Ledger, plan: Mapping[str, Step]) -> StepOutcome:
        """Fit and save."""
        return spend(self, setting, ledger)

    def make(self, table: Table, account: Account) -> Release[Any]:
        """Fit a model from a resumable account, so that a run that was killed can go on."""
        from holdfast.learn._estimators import estimator_of
        from holdfast.privacy._account.resume import ResumableAccount

        model = estimator_of(
            table.schema,
            self.target,
            self.model,
            penalty=self.penalty,
            epsilon=self.epsilon,
            delta=self.delta,
            method=self.method,
            row_norm=self.row_norm,
            radius=self.radius,
        )
        model.fit(table, target=self.target, account=ResumableAccount.of(account, None))
        release: Release[Any] = model.release_
        return release

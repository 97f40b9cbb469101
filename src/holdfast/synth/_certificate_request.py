"""CertificateRequest: which claims about the errors of synthetic rows are wanted, and their share of the budget."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast._arguments import checked
from holdfast.errors import require
from holdfast.privacy._adjacency import PrivacyUnit
from holdfast.synth._workload import Workload

CERTIFICATE_SHARE = 0.1
"""The default share of the budget for the certificate; a noisy maximum costs little."""


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class CertificateRequest:
    """What a certificate speaks of, and the share of the budget that pays for it.

    Parameters
    ----------
    workload : Workload, optional
        The queries that the certificate speaks of, where these are not the synthesizer's own.
    share : float
        Of the budget, in (0, 1). A synthesizer with `certificate=None` pays for none.
    user_cap : int, optional
        No user owns more rows than this: pays for a claim about the whole table, where only some of the rows of each
        user are kept.
    user_weights : bool
        Pays for a claim in which each user counts 1, where one row of each is kept.

    Examples
    --------
    >>> from holdfast.synth import Synthesizer
    >>> Synthesizer(epsilon=1.0, certificate=CertificateRequest(share=0.2, user_cap=100)).certificate.share
    0.2
    >>> CertificateRequest(share=0.0)
    Traceback (most recent call last):
    ...
    holdfast.errors.ParameterError: share must be in (0, 1), got share=0.0; use certificate=None for no certificate
    """

    workload: Workload | None = None
    share: float = CERTIFICATE_SHARE
    user_cap: int | None = None
    user_weights: bool = False

    def __post_init__(self) -> None:
        require(
            0 < self.share < 1, "share", self.share, "in (0, 1)", "use certificate=None for no certificate"
        )
        if self.user_cap is not None:
            require(self.user_cap >= 1, "user_cap", self.user_cap, "a whole number >= 1")
            object.__setattr__(self, "user_cap", int(self.user_cap))  # NumPy's whole numbers are taken, too

    @property
    def covers_whole(self) -> bool:
        """Whether claims about the whole table are wanted, including rows that were left out."""
        return self.user_cap is not None or self.user_weights

    def check_unit(self, unit: PrivacyUnit) -> None:
        """Refuse claims about whole tables that the declared `unit` does not allow, before anything is read."""
        if self.user_cap is not None:
            require(
                unit.column is not None,
                "user_cap",
                self.user_cap,
                "left out where the privacy unit is one row",
            )
            require(
                self.user_cap >= unit.max_rows,
                "user_cap",
                self.user_cap,
                f"a whole number >= max_rows = {unit.max_rows}",
                "no user owns more rows than this",
            )
        if self.user_weights:
            single = unit.column is not None and unit.max_rows == 1
            require(
                single,
                "user_weights",
                self.user_weights,
                f"False for {unit.summary()}",
                "declare max_rows=1, so that each kept row is one user's",
            )

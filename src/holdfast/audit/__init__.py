"""Audits: valid lower bounds on what a mechanism leaks.

Contents
--------
Audit a training function
    `audit` with a design: `OneRun`, `ManyRuns`, `Sequential`, or `Transcript` for code that draws from an account.
Audit with real records
    `membership_game` with a `MembershipDesign`: coins of holdfast decide who of a pool is trained on.
Read what came out
    `AuditResult` (verdict, lower bound, `Power`), `MembershipAudit`, and the findings that a result is made of.

Public and private
------------------
The coins that decide who is planted are secret until the guesses are made; canaries and their seeds are public. A
result may be published if only code, public or publicly generated rows and the audit's own coins went in, which `rows`
declares. What was learned from real rows, a membership game among it, stays internal.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

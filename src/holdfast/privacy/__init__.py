"""Guarantees as objects: neighbours, curves, mechanisms, accounts.

Contents
--------
Say who is protected
    `Adjacency` (which tables are neighbours), `PrivacyUnit` (a row, or all rows of a person).
Say how much
    `PureDP`, `ApproxDP`, `ZCDP`, `GaussianDP`, `RenyiDP`: curves, that is delta as a function of epsilon.
Spend it
    `Account` charges and then draws; `Gaussian`, `Laplace`, `Exponential` and the other entries of `MECHANISMS`
    are what it charges for; `calibrate` finds the least noise within a limit.
Reason about it
    `compose`, `subsample`, `to_replace`, `PrivacyCurve.group`; `LossDistribution` for numerical composition;
    `TradeOff` compares proofs, attacks and audits.

Public and private
------------------
Every parameter of a curve, a mechanism and an account is public, and so is every `Guarantee`: none of them may
be computed from rows. Private are the value handed to `Account.release` and, for `add_remove`, the number of
units. What `release` returns is public. A `Witness` sees private values, and marks what it saw as not private.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

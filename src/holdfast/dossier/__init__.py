"""The page that a privacy officer reads: what was released, what is promised, and why.

Contents
--------
Make the page
    `Dossier` of releases, with `Bars` to draw, audits, and (for the internal edition) attacks and `Accuracy`.
Check the page
    `verify_dossier` builds it again from releases and ledger; `DossierVerification` is what that showed.
Compare
    `compare` releases by what they say of themselves, `compare_methods` on private rows; both give a `Comparison`.
Say what a promise means
    `Sureness`: how sure somebody can become of one unit.

Public and private
------------------
The public edition of a page, `compare` and verifications hold released values, proofs and certificates only. The
internal edition, `Accuracy` and `compare_methods` are exact functions of private rows, and must not be
published; their `audience` says so.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

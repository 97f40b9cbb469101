"""Refutation: every mechanism and method against its own claim, by trials that can fail.

Contents
--------
`refute` runs the trials of subjects: draws against the declared law, pairs of worlds against the claimed curve,
replays on neighbouring tables, freshness of noise, rates of samples. `holdfast.testing` has the same trials for
code of your own.

Public and private
------------------
Subjects run on made-up tables, so that everything here is public; witnessed runs see values and are never
private.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

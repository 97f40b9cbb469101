"""Attacks by the owner: was a record in the data, and what is an attribute of a person? Results stay inside.

By task: `membership` attacks a model, `synthetic_membership` released rows, `attribute_risk` a column of people by
either, `synthetic_disclosure` whole people by rows; each plays the attacks of `ATTACKS` that are of its kind, and gives
an `AttackReport`. `shadow_release` attacks a synthesiser that can be run. `invertibility` and `publishing_options`
measure what any model shows about one column; nothing is released and no proof bounds it, so they are no attacks.

A new attack is an `Attack`: what it attacks, what it knows, and a function from a `Case` to guesses. A case never holds
the answers. Everything that comes out is a function of private data, and none of it is for publication.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

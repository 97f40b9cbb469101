"""Attacks by the owner of the data: who was in it, and what an attribute of a person is.

Contents
--------
Attack a release
    `membership` attacks a model, `synthetic_membership` released rows, `attribute_risk` a column of people by
    either, `synthetic_disclosure` whole people by rows; `shadow_release` attacks a synthesiser that can be run. Each
    makes the attacks of `ATTACKS` that are of its kind, and gives an `AttackReport` of what they reach.
Measure what a model shows about one column
    `invertibility`, `publishing_options`, and the games `BlackBoxGame` and `WhiteBoxGame`. Nothing is released and
    no proof bounds it, so these are no attacks.
Add an attack
    `Attack`: what it attacks, what it knows, and a function from a `Case` to guesses. A case never holds the answers.

Public and private
------------------
Every score, rate, report and row number is a function of private data, and none of it is for publication. Public are
the model or the rows under attack, the proof they are held against, and the attacks themselves.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

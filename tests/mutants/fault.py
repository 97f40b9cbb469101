"""Fault: one planted mistake and the tests that must catch it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One fault: in the object that `target` names, `old` (which occurs there once) becomes `new`.

    `target` is a room of src/holdfast, a colon, and the qualified name of a function, method, class or
    constant that the room defines once, in whichever file: "privacy:Gaussian.sample". A function of a C
    source is named alike: "kernel:close_batch". Where a room defines the name more than once, folders or a
    file narrow the search: "synth/independent:_noise".

    `old` and `new` are compared and planted without regard to layout: see `planting`.
    """

    name: str
    target: str
    old: str
    new: str
    tests: tuple[str, ...]

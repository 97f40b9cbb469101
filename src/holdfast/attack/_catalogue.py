"""REGISTRY: all attacks by name, holdfast's own and those of installed packages; and the attacks that a user names."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from holdfast._extensions import Registry
from holdfast.attack._attack import Attack, Kind
from holdfast.attack._attacks import ATTACKS
from holdfast.errors import ParameterError, require

REGISTRY = Registry(
    group="holdfast.attacks",
    noun="attack",
    own=ATTACKS,
    kind=Attack,
    calls=("guess",),
    states=("paper", "tasks", "knows"),
    promise="sees no answers",
)


def find_attacks(attacks: str | Sequence[str | Attack], kind: Kind) -> tuple[Attack, ...]:
    """The attacks of a kind that a user named: "all", a name, names, or attacks of their own.

    >>> [attack.name for attack in find_attacks(["loss", "lira"], "model")]
    ['loss', 'lira']
    """
    if isinstance(attacks, str):
        attacks = _of_kind(kind) if attacks == "all" else (attacks,)
    chosen = [
        _attack_named(entry, kind) if isinstance(entry, str) else REGISTRY.admit(entry) for entry in attacks
    ]
    require(len(chosen) >= 1, "attacks", attacks, "one attack or more")
    for attack in chosen:
        require(
            attack.kind == kind,
            "attacks",
            attack.name,
            f"of kind {kind!r}",
            f"this one is of kind {attack.kind!r}",
        )
    names = [attack.name for attack in chosen]
    require(len(set(names)) == len(names), "attacks", names, "without repetition")
    return tuple(chosen)


def notes_about(attacks: Sequence[Attack]) -> dict[str, str]:
    """What a reader must know about attacks, by name: their notes, and for those of other packages the author."""
    notes = {attack.name: attack.note for attack in attacks if attack.note is not None}
    authors = [REGISTRY.author(attack) for attack in attacks]
    return notes | {author.name: author.assumption.text for author in authors if author is not None}


def _of_kind(kind: Kind) -> tuple[Attack, ...]:
    return tuple(attack for attack in REGISTRY.everything() if attack.kind == kind)


def _attack_named(name: str, kind: Kind) -> Attack:
    attack = REGISTRY.find(name)
    if attack is not None:
        return attack
    # Packages are not imported for an error: what they register is listed whatever its kind.
    elsewhere = {entry.name for entry in ATTACKS if entry.kind != kind}
    known = [entry for entry in REGISTRY.names() if entry not in elsewhere]
    near = get_close_matches(name, known, n=1)
    raise ParameterError(
        f"attacks must be 'all' or some of {', '.join(known)}, got attacks={name!r}"
        + (f"; did you mean {near[0]!r}?" if near else "")
    )

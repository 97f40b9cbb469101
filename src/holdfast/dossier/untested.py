"""What was not tested: a pass says nothing about the attacks that nobody ran."""

from __future__ import annotations

from collections.abc import Sequence

_ALWAYS = (
    "An attacker who knows more, or computes longer, than those tried here. The proof covers them; tests do not.",
    "Other releases about the same people that are not in this ledger.",
    "The computer itself: timing, logs, memory, and who can read the private table.",
)
_KINDS = (
    ("audit", "Audits with planted records: none was run, so nothing checks the program against the proof."),
    ("attack", "Membership attacks on this release: none was run."),
)
_INVERSION = "Guessing an attribute of a person from the others (inversion): not attacked here."


def not_tested(tried: Sequence[tuple[str, str]]) -> list[str]:
    """What a reader might take for tested and was not, given (kind, name) of everything that was tried."""
    kinds = {kind for kind, _ in tried}
    missing = [text for kind, text in _KINDS if kind not in kinds]
    inverted = any("inversion" in name.lower() for _, name in tried)
    return [*missing, *([] if inverted else [_INVERSION]), *_ALWAYS]

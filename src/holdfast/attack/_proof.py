"""The trade-off curve that a proof allows an attack, between the neighbours that the attack compares."""

from __future__ import annotations

from typing import Literal

from holdfast.errors import AdjacencyError
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._guarantee import Guarantee
from holdfast.privacy._tradeoff import TradeOff

Proof = Guarantee | PrivacyCurve | TradeOff
Verdict = Literal["refuted", "warning", "consistent", "unclaimed"]
GRAVITY: tuple[Verdict, ...] = ("unclaimed", "consistent", "warning", "refuted")
"""Verdicts from the lightest to the gravest."""
Game = Literal["given", "flipped"]
"""Who decided on membership: the data's owner, or secret coins of holdfast."""
MAY_DIFFER = (
    "members and non-members may simply differ; only coins that holdfast flipped can contradict a proof"
)
DEPENDENT = "records judged by one model depend on each other; the audit of the same guesses does not refute the proof"
REASONS: dict[tuple[str, Game], str] = {
    ("warning", "given"): f" ({MAY_DIFFER})",
    ("warning", "flipped"): f" ({DEPENDENT})",
}


def proved_curve(proof: Proof, adjacency: Adjacency = Adjacency.replace) -> TradeOff:
    """The proved trade-off between neighbours of this adjacency; a bare curve is taken to be about them.

    Members and non-members of data of one size are `replace` neighbours: a non-member is a member replaced by
    somebody else. A promise about adding, removing or blanking a record counts twice there (soundness, section 0).

    >>> from holdfast.privacy import PureDP
    >>> round(proved_curve(PureDP(1.0)).detection_at(0.1), 4)
    0.2718
    """
    if isinstance(proof, TradeOff):
        return proof
    if isinstance(proof, Guarantee) and proof.unit.column is not None:
        raise AdjacencyError(
            f"not compared: the promise is about {proof.unit.summary()}, the attack about single rows; give proved=, a "
            "promise about rows, or attack with one row per unit and give the promise's bare curve"
        )
    if not isinstance(proof, Guarantee) or proof.adjacency is adjacency:
        return (proof.curve if isinstance(proof, Guarantee) else proof).trade_off()
    if adjacency is Adjacency.replace:
        return proof.curve.to_replace().trade_off()
    raise AdjacencyError(
        f"the game compared {adjacency.value!r} neighbours, the proof is about {proof.adjacency.value!r} ones; "
        "play the game of the proof's adjacency"
    )


def comparable_curve(
    proof: Proof | None, adjacency: Adjacency = Adjacency.replace
) -> tuple[TradeOff | None, dict[str, str]]:
    """What is proved about rows; None where nothing is, or only about other units, and a note that says so."""
    try:
        return (None if proof is None else proved_curve(proof, adjacency)), {}
    except AdjacencyError as error:
        return None, {"the promise": str(error)}

"""What a proof says about the two worlds that an attack tells apart."""

from __future__ import annotations

from holdfast.errors import AdjacencyError
from holdfast.privacy.adjacency import Adjacency
from holdfast.privacy.curve import PrivacyCurve
from holdfast.privacy.guarantee import Guarantee
from holdfast.privacy.tradeoff import TradeOff
from holdfast.privacy.two_steps import TwoSteps

Proof = Guarantee | PrivacyCurve | TradeOff


def proved_curve(proof: Proof, adjacency: Adjacency = Adjacency.replace) -> TradeOff:
    """The proved trade-off between worlds of this adjacency; a bare curve is taken to be about them.

    Members and non-members of data of one size are `replace` neighbours: a non-member is a member replaced by
    somebody else. A promise about adding, removing or blanking a record counts twice there (soundness, section 0).

    >>> from holdfast.privacy import PureDP
    >>> round(proved_curve(PureDP(1.0)).detection_at(0.1), 4)
    0.2718
    """
    if isinstance(proof, TradeOff):
        return proof
    if not isinstance(proof, Guarantee) or proof.adjacency is adjacency:
        return (proof.curve if isinstance(proof, Guarantee) else proof).trade_off()
    if adjacency is Adjacency.replace:
        return TwoSteps(proof.curve).trade_off()
    raise AdjacencyError(
        f"the game compared {adjacency.value!r} neighbours, the proof is about {proof.adjacency.value!r} ones; "
        "play the game of the proof's adjacency"
    )

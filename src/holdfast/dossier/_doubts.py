"""What a reader of a page must believe besides the proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast._assumption import Assumption, distinct
from holdfast.dossier._record import Payment, ReleaseFacts


def doubts(releases: Sequence[ReleaseFacts], payments: Sequence[Payment]) -> tuple[Assumption, ...]:
    """Everything that a reader must believe besides the proof, the gravest first; no payments without a ledger."""
    assumptions = [
        assumption
        for release in releases
        for assumption in _release_doubts(release, ledger_is_at_hand=bool(payments))
    ]
    for release, payment in zip(releases, payments, strict=False):
        assumptions += _payment_doubts(release.name, payment)
    return tuple(sorted(distinct(assumptions), key=lambda assumption: not assumption.voids))


def _release_doubts(release: ReleaseFacts, *, ledger_is_at_hand: bool) -> Iterator[Assumption]:
    """What one release assumes by itself."""
    if not release.private:
        text = f"{release.name} was drawn from a seed: whoever knows it takes the noise away"
        yield Assumption(kind="seed", subject=release.name, voids=True, text=text)
    yield from (Assumption.from_json(stored) for stored in release.guarantee["assumptions"])
    if not release.provenance.head:
        text = (
            f"no ledger counted {release.name}: if it was chosen among several fits, or if more was released about "
            "these data, the promise is worth less than it says"
        )
        yield Assumption(kind="no ledger", subject=release.name, voids=True, text=text)
    elif not ledger_is_at_hand:
        text = (
            f"the ledger that paid for {release.name} was not at hand: what it says of budget, approval and other "
            "releases is not on this page"
        )
        yield Assumption(kind="ledger not at hand", subject=release.name, text=text)


def _payment_doubts(release_name: str, payment: Payment) -> Iterator[Assumption]:
    """What the ledger leaves open about the payment for one release."""
    if payment.closed is None:
        text = (
            f"the ledger does not hold the hash of {release_name}: nothing binds its values to what was paid"
        )
        yield Assumption(kind="release not closed", subject=release_name, voids=True, text=text)
    if not payment.approver:
        text = f"nobody is named who approved the account {payment.account}"
        yield Assumption(kind="no approver", subject=payment.account, text=text)
    if payment.others:
        text = (
            f"the account {payment.account} also paid for {payment.others} other release{'s' * (payment.others > 1)}: "
            "the promise is about all of them together"
        )
        yield Assumption(kind="other releases", subject=payment.account, text=text)

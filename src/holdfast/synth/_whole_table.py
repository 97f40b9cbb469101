"""Claims about the whole table where only some rows of each user are kept (soundness, section 23).

Where users bring at most c rows, everything is computed on the table B of the rows that were kept, n_B of them. With
s the share of rows left out, q(T) = (1 - s) q(B) + s q(rest) for the whole table T, so no proportion moves by more
than s. No private upper bound on s is below 1 unless somebody declares that no user owns more than C rows: then

    n_d = sum over users of (min(r_u, C) - c)+

has sensitivity C - c, and s <= n_d / (n_B + n_d) is bounded from a noisy n_d and the certificate's own lower n_B.
Where each user counts 1, whatever number of rows they own, no declaration is needed: of U users K own more than c
rows, and no proportion moves by more than K / U. All of it is charged to the certificate's share.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from holdfast._assumption import NUMBER_OF_ROWS, Assumption
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import PrivacyUnit
from holdfast.release._certificate import SHARE, Certificate
from holdfast.synth._certificate import (
    Certification,
    certificate_noise,
    certify,
    declared_count_clause,
    offset,
)
from holdfast.synth._certificate_request import CertificateRequest
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._rows.coded_rows import CodedRows
from holdfast.synth._workload import Workload

#: The names of the claims about all rows, and about all users.
WHOLE, USERS = "largest error in the whole table", "largest error in the whole table, each user counting 1"
#: The share of the certificate's budget for each of the two claims.
BEYOND_SHARE = 0.3
#: The failure probability of each of their bounds, as a share of the certificate's own, to which it is added.
BEYOND_FAILURE = 0.1


def cap_assumption(unit: PrivacyUnit, user_cap: int) -> Assumption:
    """The assumption of a claim about the whole table: no user has more than `user_cap` rows."""
    return Assumption(
        kind=NUMBER_OF_ROWS,
        subject="user_cap",
        text=f"no {unit.column} has more than {user_cap} rows: claims about the whole table rest on it (else they are "
        f"true of the table with at most {user_cap} rows per {unit.column})",
    )


def share_left_out(beyond: float, rows_kept: float) -> float:
    """The share of rows left out, s = n_d / (n_B + n_d), from an upper n_d and a lower n_B; 1 where n_B may be 0.

    >>> round(share_left_out(2339.2, 44940.1), 4), share_left_out(5.0, -1.0)
    (0.0495, 1.0)
    """
    if rows_kept <= 0:
        return 1.0
    return max(0.0, beyond) / (rows_kept + max(0.0, beyond))


def user_shift(cut: float, users: float, *, queries: int, failure: float) -> float:
    """How far a proportion in which each user counts 1 can move, if `cut` users own more rows than are kept.

    At most K / U; and with probability 1 - `failure`, for all queries at once, at most
    sqrt(K ln(2 |Q| / failure) / 2) / U, because a user's kept rows are a uniform sample of theirs (Hoeffding).
    """
    if users <= 0:
        return 1.0
    cut = max(0.0, cut)
    return min(1.0, cut / users, math.sqrt(cut * math.log(2 * queries / failure) / 2) / users)


def certify_whole(
    data: ExactCounts,
    rows: CodedRows,
    workload: Workload,
    *,
    account: Account,
    confidence: float,
    request: CertificateRequest,
) -> Certification:
    """The certificate of the kept rows, and the claims about the whole table that follow from it.

    If the certificate has confidence 1 - u, these claims have 1 - u - u1, because they also need the bound on the
    number of rows (or users) beyond the kept ones. The lower bound on n_B, where it was paid for, is part of u.
    """
    request.check_unit(data.unit)
    user_cap = request.user_cap
    paid_claims = [user_cap is not None and user_cap > data.unit.max_rows, request.user_weights]
    number = sum(paid_claims)
    first, *others = account.split(1.0 - BEYOND_SHARE * number, *[BEYOND_SHARE] * number)
    certification = certify(data, rows, workload, account=first, confidence=confidence)
    failure = BEYOND_FAILURE * (1.0 - confidence)
    claims = []
    if user_cap is not None:
        beyond = _beyond_high(data, others[0], most=user_cap, failure=failure) if paid_claims[0] else 0.0
        claims.append(
            _whole_claim(
                certification, data, user_cap, share_left_out(beyond, certification.rows_low), failure
            )
        )
    if request.user_weights:
        cut = _beyond_high(data, others[-1], most=data.unit.max_rows + 1, failure=failure / 2)
        shift = user_shift(
            cut, certification.rows_low, queries=workload.size(data.table.schema), failure=failure / 2
        )
        claims.append(_users_claim(certification, data, shift, failure))
    return replace(certification, whole=tuple(claims))


def _beyond_high(data: ExactCounts, account: Account, *, most: int, failure: float) -> float:
    """An upper bound on the number of rows beyond those kept, each user's up to `most`; fails with prob. `failure`.

    A user's term is between 0 and most - c, so one user moves the sum by at most that under every adjacency.
    """
    sensitivity = most - data.unit.max_rows
    mechanism, std = certificate_noise(account, max_rows=sensitivity, adjacency=data.adjacency)
    label = "users beyond the bound" if sensitivity == 1 else "rows beyond the bound"
    noisy = account.release(mechanism, np.array([float(data.table.beyond(most))]), label=label)
    return float(noisy[0]) + offset(mechanism, std, failure=failure)


def _whole_claim(
    certification: Certification, data: ExactCounts, user_cap: int, share: float, failure: float
) -> Certificate:
    provided = f", provided no {data.unit.column} has more than {user_cap} rows"
    return Certificate(
        name=WHOLE,
        statement=f"compared with the whole table{provided}{declared_count_clause(data)}",
        alpha=min(1.0, certification.overall.alpha + share),
        confidence=certification.overall.confidence - failure,
        query_class=certification.overall.query_class,
        details={"left_out": share, "user_cap": user_cap},
        unit=SHARE,
    )


def _users_claim(
    certification: Certification, data: ExactCounts, shift: float, failure: float
) -> Certificate:
    counting = f", each {data.unit.column} counting 1 with the mean of all their rows"
    return Certificate(
        name=USERS,
        statement=f"compared with the whole table{counting}{declared_count_clause(data)}",
        alpha=min(1.0, certification.overall.alpha + shift),
        confidence=certification.overall.confidence - failure,
        query_class=certification.overall.query_class,
        details={"shift": shift},
        unit=SHARE,
    )

"""The certificate: a bound on the largest error of the released rows, by one noisy maximum (soundness, section 10).

With Q the declared queries, S the table of n records and R the released rows,

    f(S) = max over q in Q of |c_q(S) - n q(R)|

is the largest error in records. One record moves it by at most 1, since it adds q(x) - q(R), which is in [-1,
1]; a unit of c rows by at most c (section 18). So f plus noise, plus a quantile of the noise, is above f with
exactly the stated confidence, whatever method made R and however wrong its model is: no union bound over
queries.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast._progress import progress
from holdfast.errors import require
from holdfast.privacy._account import Account
from holdfast.privacy._account.resume import ResumableAccount
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PureDP
from holdfast.privacy._grid import FINE_BITS
from holdfast.privacy._mechanisms.gaussian import Gaussian
from holdfast.privacy._mechanisms.laplace import Laplace
from holdfast.privacy._mechanisms.mechanism import Mechanism
from holdfast.privacy._wording import count_text
from holdfast.release._certificate import SHARE, Certificate
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.model import NoisyCount
from holdfast.synth._rows.coded_rows import CodedRows
from holdfast.synth._workload import Workload

#: The name of the claim over all queries together.
OVERALL = "largest error"
#: The labels of its charges in a ledger.
ERRORS_LABEL, ROWS_LABEL = "largest errors", "number of rows"
#: Shares of the certificate's budget: for the maxima of groups, and for the number of rows where that is private.
GROUP_SHARE, COUNT_SHARE = 0.07, 0.03
#: The share of the failure probability that the number of rows gets, where that is private.
COUNT_FAILURE = 0.1
#: A bound on the rounding error of an exact maximum, in records; the sensitivity includes it.
ROUNDING_ERROR = 2.0**-16
#: The most cells of joint counts in memory at a time.
MOST_CELLS_AT_ONCE = 2**22
#: A law is asked for all points of so many halvings in one call, which costs little more than one point.
HALVINGS_AT_ONCE = 6


@checked
@dataclass(frozen=True, kw_only=True)
class Certification:
    """What is claimed of the released rows: over all queries, by group, the whole table, the population. Public.

    Parameters
    ----------
    overall : Certificate
        Over all queries of the workload at once.
    groups : tuple of Certificate
        For each group of queries.
    whole : tuple of Certificate
        Of the table with the rows that were left out, where that was paid for.
    population : Certificate, optional
        Of the population that the rows were drawn from.
    noise_std : float
        The standard deviation of the noise on the largest error, as a proportion.
    fingerprint : str
        The hash of the rows that were certified.
    rows_low : float
        A number that the table's rows, as far as they were kept, are not below: public, declared or paid for.
    counted : NoisyCount, optional
        The noisy number of rows, where it was paid for.

    Examples
    --------
    >>> from holdfast import Certificate
    >>> claim = Certificate(name="largest error", statement="", alpha=0.02, confidence=0.95, query_class="all pairs")
    >>> Certification(overall=claim, noise_std=0.01, fingerprint="ab12", rows_low=100.0).certificates == (claim,)
    True
    """

    overall: Certificate
    groups: tuple[Certificate, ...] = ()
    whole: tuple[Certificate, ...] = ()
    """Of the table with the rows that were left out (`holdfast.synth._whole_table`), where that was paid for."""
    population: Certificate | None = None
    noise_std: float
    """Of the largest error, as a proportion."""
    fingerprint: str
    """Of the rows that were certified."""
    rows_low: float
    """A number that the table's rows, as far as they were kept, are not below: public, declared or paid for."""
    counted: NoisyCount | None = None
    """The noisy number of rows, where it was paid for."""

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """All certificates, the overall one first."""
        last = () if self.population is None else (self.population,)
        return (self.overall, *self.groups, *self.whole, *last)


def largest_errors(data: ExactCounts, rows: CodedRows, workload: Workload) -> Floats:
    """The exact largest error f of each group, in records; private. Counts a few groups in each pass over the table."""
    require(len(rows) > 0, "rows", len(rows), ">= 1 to be certified")
    count = data.table.count()
    largest = np.zeros(len(workload.groups))
    with progress(desc="certifying", total=len(workload.groups)) as bar:
        for part in _groups_per_pass(data, workload):
            joint = [place for place in part if not workload.groups[place].by_rows]
            counted = dict(
                zip(joint, data.counts([workload.groups[place].columns for place in joint]), strict=True)
            )
            for place in part:
                group = workload.groups[place]
                exact = group.answers(counted[place]) if place in counted else data.group_sums(group)
                gap = exact - rows.answers(group) * (count / len(rows))
                largest[place] = float(np.max(np.abs(gap)))
                bar.update()
    return largest


def _groups_per_pass(data: ExactCounts, workload: Workload) -> list[list[int]]:
    parts: list[list[int]] = [[]]
    held = 0
    for place, group in enumerate(workload.groups):
        cells = 0 if group.by_rows else math.prod(data.shape(group.columns))
        if parts[-1] and held + cells > MOST_CELLS_AT_ONCE:
            parts.append([])
            held = 0
        parts[-1].append(place)
        held += cells
    return parts


def certificate_noise(
    account: Account, *, max_rows: int, adjacency: Adjacency, maxima: int = 1
) -> tuple[Mechanism, float]:
    """The noise mechanism for `maxima` numbers at once that spends all that remains, and its standard deviation.

    A unit of c rows moves each maximum by at most c, all of them together by c sqrt(G) in L2 and c G in L1.
    """
    each = max_rows + ROUNDING_ERROR
    pure = account.remaining().as_pure()
    if pure is None and account.currency.name == "basic":
        pure = account.currency.amounts(account.remaining())[0]  # type: ignore[index]
    if pure is None:
        l2 = each * math.nextafter(math.sqrt(maxima), math.inf)
        gaussian = Gaussian.within(account.remaining(), l2_sensitivity=l2, adjacency=adjacency)
        return gaussian, float(gaussian.sigma)
    l1 = each * maxima
    laplace = Laplace.within(PureDP(pure), l1_sensitivity=l1, adjacency=adjacency)
    return laplace, math.sqrt(2.0) * float(laplace.scale)


def offset(mechanism: Mechanism, noise_std: float, *, failure: float, size: int = 1) -> float:
    """What to add to a noisy number so that it is below the true one with probability at most `failure`.

    The quantile of the noise as it is drawn, on its grid, plus half a step for the rounded centre.
    For Laplace noise of scale b it is b ln(1 / (2 failure)).

    >>> mechanism = Laplace(scale=1.0, l1_sensitivity=1.0)
    >>> round(offset(mechanism, 2 ** 0.5, failure=0.05), 4)  # ln 10
    2.3026
    """
    require(0 < failure < 0.5, "failure", failure, "in (0, 0.5)")
    centre = np.zeros(size)
    low, high = 0.0, noise_std
    while float(mechanism.cdf(centre, np.array([high]))[0]) < 1 - failure:
        low, high = high, 2 * high
    for _ in range(60 // HALVINGS_AT_ONCE):
        points = _halved(low, high)
        enough = mechanism.cdf(centre, points[1:]) >= 1 - failure
        first = int(np.argmax(enough)) + 1
        low, high = float(points[first - 1]), float(points[first])
    # A grid has at least 2^20 steps per power of two above the noise's scale, so half a step is below this.
    return high + noise_std * 2.0**-FINE_BITS


def _halved(low: float, high: float) -> Floats:
    """Both ends, and every point that so many halvings of the interval between them may reach."""
    points = np.array([low, high])
    for _ in range(HALVINGS_AT_ONCE):
        finer = np.empty(2 * points.size - 1)
        finer[::2], finer[1::2] = points, 0.5 * (points[:-1] + points[1:])
        points = finer
    return points


def certify(
    data: ExactCounts,
    rows: CodedRows,
    workload: Workload,
    *,
    account: Account,
    confidence: float = 0.95,
    groups: bool = True,
) -> Certification:
    """Certify the errors of these rows, with all that remains of the account.

    Where the number of rows is public (or declared: then the claim assumes it), alpha = (f + noise + offset) / n
    holds with exactly the stated confidence. Where it is private, a lower bound on it is released beside f, and
    alpha is 1 if that is not positive.
    """
    require(0.5 < confidence < 1, "confidence", confidence, "in (0.5, 1)")
    failure = 1.0 - confidence
    errors = largest_errors(data, rows, workload)
    by_group = groups and len(errors) > 1
    public = data.public_rows
    shares = [1.0 - GROUP_SHARE * by_group - COUNT_SHARE * (public is None)]
    shares += [GROUP_SHARE] * by_group + [COUNT_SHARE] * (public is None)
    accounts = list(account.split(*shares)) if len(shares) > 1 else [account]
    remaining_failure = failure if public is not None else (1 - COUNT_FAILURE) * failure
    # The hash of the rows is part of the key: a resumed job never takes a certificate that is about other rows.
    fingerprint = rows.fingerprint()
    size, counted = (
        (float(public), None)
        if public is not None
        else (_release_rows_low(data, accounts[-1], failure=COUNT_FAILURE * failure, fingerprint=fingerprint))
    )
    which_rows = data.unit.kept_rows_text() + declared_count_clause(data) + data.unit.left_out_text()
    (bound,), std = _release_upper_bounds(
        errors.max(keepdims=True), data, accounts[0], failure=remaining_failure, fingerprint=fingerprint
    )
    overall = Certificate(
        name=OVERALL,
        statement=f"proportions of the workload on the {len(rows)} released rows {_comparison_words(data)} "
        f"the table{which_rows}",
        alpha=proportion(bound, size),
        confidence=confidence,
        query_class=_query_class_words(data, workload),
        details={"noise_std": proportion(std, size), "rows": len(rows), "rows_sha256": fingerprint},
        unit=SHARE,
    )
    group_claims: tuple[Certificate, ...] = ()
    if by_group:
        group_claims = _by_group(
            errors,
            data,
            accounts[1],
            workload,
            size=size,
            confidence=confidence,
            remaining_failure=remaining_failure,
            which_rows=which_rows,
            rows=rows,
            cap=overall.alpha,
        )
    return Certification(
        overall=overall,
        groups=group_claims,
        population=_population(overall, data, workload, size=size),
        noise_std=proportion(std, size),
        fingerprint=fingerprint,
        rows_low=size,
        counted=counted,
    )


def _release_upper_bounds(
    errors: Floats, data: ExactCounts, account: Account, *, failure: float, fingerprint: str
) -> tuple[Floats, float]:
    """Release noisy maxima, raised so that one of them is below the true one with probability at most `failure`."""
    mechanism, std = certificate_noise(
        account, max_rows=data.unit.max_rows, adjacency=data.adjacency, maxima=errors.size
    )
    noisy = account.release(mechanism, errors, key=_key(account, fingerprint), label=ERRORS_LABEL)
    return upper_bounds(mechanism, np.asarray(noisy), failure=failure), std


def upper_bounds(mechanism: Mechanism, noisy: Floats, *, failure: float) -> Floats:
    """Noisy maxima, raised so that one of them is below the true one with probability at most `failure`."""
    each = offset(mechanism, noise_std(mechanism), failure=failure / noisy.size, size=noisy.size)
    return noisy + each + ROUNDING_ERROR


def noise_std(mechanism: Mechanism) -> float:
    """The standard deviation of a mechanism that `certificate_noise` returned."""
    scale = mechanism.to_json()
    return math.sqrt(2.0) * float(mechanism.scale) if "scale" in scale else float(mechanism.sigma)  # type: ignore[attr-defined]


def _release_rows_low(
    data: ExactCounts, account: Account, *, failure: float, fingerprint: str
) -> tuple[float, NoisyCount]:
    """A lower bound on the number of rows, wrong with probability at most `failure`; and the noisy number."""
    mechanism, std = certificate_noise(account, max_rows=data.unit.max_rows, adjacency=data.adjacency)
    noisy = account.release(
        mechanism, np.array([float(data.table.count())]), key=_key(account, fingerprint), label=ROWS_LABEL
    )
    counted = NoisyCount(value=float(noisy[0]), noise_std=std, laplace=isinstance(mechanism, Laplace))
    return counted.value - offset(mechanism, std, failure=failure), counted


def _by_group(
    errors: Floats,
    data: ExactCounts,
    account: Account,
    workload: Workload,
    *,
    size: float,
    confidence: float,
    remaining_failure: float,
    which_rows: str,
    rows: CodedRows,
    cap: float,
) -> tuple[Certificate, ...]:
    """Certificates of the groups whose bound is below the overall one; they hold all together."""
    bounds, std = _release_upper_bounds(
        errors, data, account, failure=remaining_failure, fingerprint=rows.fingerprint()
    )
    return tuple(
        Certificate(
            name=f"largest error in {group.name}",
            statement=f"on the {len(rows)} released rows {_comparison_words(data)} the table{which_rows}; "
            "all groups together",
            alpha=proportion(each, size),
            confidence=confidence,
            query_class=group.name,
            details={"noise_std": proportion(std, size), "columns": list(group.columns)},
            unit=SHARE,
        )
        for group, each in zip(workload.groups, bounds.tolist(), strict=True)
        if proportion(each, size) < cap
    )


def _population(
    overall: Certificate, data: ExactCounts, workload: Workload, *, size: float
) -> Certificate | None:
    """The certificate against a population of which records are independent draws: Hoeffding and a union bound."""
    if data.unit.max_rows > 1 or size < 1:
        return None
    failure = 1.0 - overall.confidence
    sampling = math.sqrt(math.log(2 * workload.size(data.table.schema) / failure) / (2 * size))
    return Certificate(
        name="largest error against the population",
        statement="if the records are independent draws from it"
        if not (which_rows := data.unit.kept_rows_text())
        else f"if the records left{which_rows}, are independent draws from it",
        alpha=min(1.0, overall.alpha + sampling),
        confidence=max(1.0 - 2 * failure, 2.0**-52),
        query_class=overall.query_class,
        details={"sampling": sampling},
        unit=SHARE,
    )


def _query_class_words(data: ExactCounts, workload: Workload) -> str:
    queries = workload.size(data.table.schema)
    groups = count_text(len(workload.groups), "group")
    return f"all {count_text(queries, 'query')} of the {groups} of the workload"


def _comparison_words(data: ExactCounts) -> str:
    """The word for a comparison with the table; a weaker one where some of its rows were left out."""
    return "against" if data.unit.column is None else "compared with"


def declared_count_clause(data: ExactCounts) -> str:
    """The condition of a claim that divides by a declared number of rows; empty where that is public by itself."""
    assumed = data.public_rows is not None and not data.adjacency.count_is_public
    return ", if it has at least the declared n_public rows" if assumed else ""


def proportion(records: float, size: float) -> float:
    """A number of records as a share of the table; 1 where the table may be empty."""
    return 1.0 if size <= 0 else max(0.0, min(1.0, records / size))


def _key(account: Account, fingerprint: str) -> str | None:
    """The key of the charge, named after the rows, in a resumable account; None in another account."""
    return f"certificate-{fingerprint[:16]}" if isinstance(account, ResumableAccount) else None

"""What a release promises, computed again from its curve: every epsilon, delta and belief that a page shows.

Written from the definitions of the curves (docs/format.md, The promise), with the standard library alone. Numbers are
held on both sides: an epsilon may be neither below the truth by more than `TOLERANCE`, nor far above it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Any

TOLERANCE = 5e-5
"""Relative: numbers of a record have six digits, and processors differ in their last."""
LOOSE = 0.05
"""Relative, upwards: the bound on beliefs is the best of finitely many, and each of them is valid."""
DELTAS = (1e-3, 1e-5, 1e-6, 1e-9)
PRIORS = (0.01, 0.1, 0.5, 0.9)
CHANGE = {
    "replace": ("that unit's data are changed", "replaced by someone else's"),
    "zero_out": ("that unit's data are blanked out", "blanked out"),
    "add_remove": ("that unit is added or removed", "in the table at all"),
}
ALWAYS = [
    "An attacker who knows more, or computes longer, than those tried here. The proof covers them; tests do not.",
    "Other releases about the same people, where no ledger counts them.",
    "The computer itself: timing, logs, memory, and who can read the private table.",
]
NO_AUDIT = "Audits: none that could have failed was run, so nothing checks the program against the proof."
NO_ATTACK = "Membership attacks on this release: none {}."
INVERSION = "Guessing an attribute of a person from the others (inversion): not attacked here."
Refuse = Callable[[object, str], None]


def value(stored: Any) -> float:
    """A number of a curve; a fraction is rounded up."""
    if not (isinstance(stored, str) and "/" in stored):
        return float(stored)
    exact = Fraction(stored)
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def tail(x: float) -> float:
    """The normal distribution function."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


class Curve:
    """delta of every epsilon, and the other way round."""

    pure: float | None = None
    """The epsilon at delta 0, if there is one."""
    own: tuple[float, ...] = ()
    """Deltas that the curve itself names."""
    slack = False
    text = ""
    tabulated: list[tuple[float, float]] | None = None

    def delta(self, epsilon: float) -> float:
        """The least delta."""
        raise NotImplementedError

    def epsilon(self, delta: float) -> float:
        """The least epsilon, by halving."""
        if delta == 0.0:
            return math.inf if self.pure is None or self.slack else self.pure
        if self.delta(0.0) <= delta:
            return 0.0
        low, high = 0.0, 1.0
        while self.delta(high) > delta:
            low, high = high, 2.0 * high
            if high > 1e9:
                return math.inf
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(middle) > delta else (low, middle)
        return high

    def lines(self) -> list[tuple[float, float]]:
        """e^epsilon and delta of many epsilons: each is a line that no attacker gets above."""
        if self.tabulated is None:
            top = max(min(self.epsilon(1e-15), 690.0), 1e-6)
            near = [1e-6 * (top / 1e-6) ** (k / 699) for k in range(700)]
            self.tabulated = [(math.exp(one), min(1.0, self.delta(one))) for one in [0.0, *near]]
        return self.tabulated

    def found(self, false_alarm: float) -> float:
        """The largest share of members found: the least line over all epsilons, both ways round."""
        best = 1.0
        for factor, delta in self.lines():
            best = min(best, delta + factor * false_alarm, 1.0 - (1.0 - delta - false_alarm) / factor)
        return best

    def guess(self) -> float:
        """How often a guess is right at most: where members found and false alarms add up to one."""
        return 1.0 - max((1.0 - delta) / (1.0 + factor) for factor, delta in self.lines())


class Approximate(Curve):
    """Pure, or pure but for a failure."""

    def __init__(self, stored: Any) -> None:
        self.bound = value(stored["epsilon"])
        self.failure = value(stored.get("delta", 0))
        self.pure = self.bound if self.failure == 0 else None
        self.own = (float(Fraction(str(stored["delta"]))),) if self.failure else ()
        named = f", delta={self.failure:g}" if stored["kind"] == "ApproxDP" else ""
        self.text = f"{stored['kind']}(epsilon={self.bound:g}{named})"

    def delta(self, epsilon: float) -> float:
        """Randomised response, and the failure."""
        if epsilon >= self.bound:
            return self.failure
        response = -math.expm1(epsilon - self.bound) / (1.0 + math.exp(-self.bound))
        return self.failure + (1.0 - self.failure) * response


class Gaussian(Curve):
    """Two normal laws at a distance."""

    def __init__(self, mu: float) -> None:
        self.mu, self.text = mu, f"GaussianDP(mu={mu:g})"
        self.pure = 0.0 if mu == 0 else None

    def delta(self, epsilon: float) -> float:
        """Balle and Wang 2018, theorem 8."""
        if self.mu == 0:
            return 0.0
        first = tail(self.mu / 2 - epsilon / self.mu)
        second = tail(-self.mu / 2 - epsilon / self.mu)
        return max(0.0, first - (math.exp(epsilon + math.log(second)) if second > 0 else 0.0))

    def found(self, false_alarm: float) -> float:
        """Dong, Roth and Su 2019."""
        if not 0 < false_alarm < 1:
            return false_alarm
        normal = NormalDist()
        return normal.cdf(normal.inv_cdf(false_alarm) + self.mu)


class Concentrated(Curve):
    """Renyi divergences of all orders, rho times the order."""

    def __init__(self, rho: float) -> None:
        self.rho, self.text = rho, f"ZCDP(rho={rho:g})"
        self.pure = 0.0 if rho == 0 else None

    def delta(self, epsilon: float) -> float:
        """Canonne, Kamath and Steinke 2020, proposition 12, at the best order; and Pinsker."""
        if self.rho == 0:
            return 0.0
        if (epsilon - self.rho) / (2 * math.sqrt(self.rho)) > 60.0:
            return 0.0

        def log(size: float) -> float:
            return (
                size * (self.rho * (1 + size) - epsilon)
                + size * math.log(size / (1 + size))
                - math.log1p(size)
            )

        return min(math.exp(min(0.0, least(log, 1e-9, 1e9))), math.sqrt(self.rho / 2), 1.0)

    def epsilon(self, delta: float) -> float:
        """The inverse at the best order."""
        if self.rho == 0 or delta >= 1:
            return 0.0
        if delta == 0:
            return math.inf

        def bound(size: float) -> float:
            shared = -math.log(delta) + size * math.log(size / (1 + size)) - math.log1p(size)
            return self.rho * (1 + size) + shared / size

        middle = math.sqrt(-math.log(delta) / self.rho)
        return max(0.0, least(bound, 1e-3 * middle, 1e2 * middle))


class Renyi(Curve):
    """Renyi divergences of listed orders."""

    def __init__(self, stored: Any) -> None:
        pairs = [(value(a), value(b)) for a, b in zip(stored["orders"], stored["divergences"], strict=True)]
        self.pairs = [(a, b) for a, b in pairs if math.isfinite(a + b)]
        last = pairs[-1]
        self.pure = last[1] if math.isinf(last[0]) and math.isfinite(last[1]) else None
        self.pure = 0.0 if not any(b for _, b in pairs) else self.pure
        self.text = f"RenyiDP({len(pairs)} orders from {pairs[0][0]:g} to {last[0]:g})"

    def delta(self, epsilon: float) -> float:
        """The least over the orders."""
        if self.pure is not None and epsilon >= self.pure:
            return 0.0
        logs = [(a - 1) * (b - epsilon) + (a - 1) * math.log1p(-1 / a) - math.log(a) for a, b in self.pairs]
        return math.exp(min([0.0, *logs]))

    def epsilon(self, delta: float) -> float:
        """The least over the orders."""
        best = math.inf if self.pure is None else self.pure
        if delta == 0:
            return best
        for a, b in self.pairs:
            shared = (-math.log(delta) + (a - 1) * math.log1p(-1 / a) - math.log(a)) / (a - 1)
            best = min(best, max(0.0, b + shared))
        return best


class WithSlack(Curve):
    """A curve, a distance of the sampler from its law, and failures."""

    slack = True

    def __init__(self, curve: Curve, tau: float, failure: float) -> None:
        self.curve, self.tau, self.failure = curve, tau, failure
        self.pure, self.own = curve.pure, curve.own
        self.slack = tau + failure > 0 or curve.slack
        self.text = f"{curve.text} + slack (tau={tau:g}, delta={failure:g})"

    def delta(self, epsilon: float) -> float:
        """What is left out adds up."""
        sampler = (1.0 + math.exp(min(epsilon, 700.0))) * self.tau
        return min(1.0, self.curve.delta(epsilon) + sampler + self.failure)

    def epsilon(self, delta: float) -> float:
        """The least one that is proved; delta rises again once the sampler's part does."""
        guess = self.curve.epsilon(max(0.0, delta - self.failure))
        for _ in range(200):
            if math.isinf(guess) or self.delta(guess) <= delta * (1 + 1e-12):
                return guess
            left = delta - (self.delta(guess) - self.curve.delta(guess))
            if left <= 0:
                return math.inf
            guess = max(self.curve.epsilon(left), math.nextafter(guess, math.inf))
        return math.inf


def least(function: Callable[[float], float], low: float, high: float) -> float:
    """The least value of a function with one valley, over logarithms: a grid, refined around its best point."""
    start, end = math.log(low), math.log(high)
    for points in (120, 40, 40, 40):
        step = (end - start) / points
        values = [function(math.exp(start + step * k)) for k in range(points + 1)]
        best = min(range(points + 1), key=values.__getitem__)
        start, end = start + step * max(0, best - 1), start + step * min(points, best + 1)
    return values[best]


def curve_of(stored: Any) -> Curve | None:
    """The curve of a release; None where it is of a kind that is not known here."""
    match stored["kind"]:
        case "PureDP" | "ApproxDP":
            return Approximate(stored)
        case "GaussianDP":
            return Gaussian(value(stored["mu"]))
        case "ZCDP":
            return Concentrated(value(stored["rho"]))
        case "RenyiDP":
            return Renyi(stored)
        case "WithSlack":
            inner = curve_of(stored["curve"])
            failure = value(stored["probability"]) + value(stored["common"])
            return None if inner is None else WithSlack(inner, value(stored["tau"]), failure)
    return None


def together(curves: Sequence[Curve]) -> Curve | None:
    """Several curves as one, where their parameters add up; None where that takes more."""
    if len(curves) == 1:
        return curves[0]
    if all(isinstance(curve, Gaussian) for curve in curves):
        return Gaussian(math.sqrt(sum(curve.mu**2 for curve in curves if isinstance(curve, Gaussian))))
    if all(isinstance(curve, Concentrated) for curve in curves):
        return Concentrated(sum(curve.rho for curve in curves if isinstance(curve, Concentrated)))
    return None


def covers(wide: Any, narrow: Any) -> bool:
    """Whether everything that the second release was charged, the first was charged too."""
    first, other = wide["provenance"], narrow["provenance"]
    return (
        bool(first["account"])
        and first["account"] == other["account"]
        and bool(other["entries"])
        and set(other["entries"]) <= set(first["entries"])
        and all(wide["guarantee"][name] == narrow["guarantee"][name] for name in ("adjacency", "unit"))
    )


def widest(releases: Sequence[Any]) -> list[Any]:
    """Releases that no other one covers."""
    chosen: list[Any] = []
    for release in releases:
        if not any(covers(other, release) for other in chosen):
            chosen = [*(other for other in chosen if not covers(release, other)), release]
    return chosen


def near(shown: Any, truth: float, *, above: float = TOLERANCE, absolute: float = 1e-9) -> bool:
    """Whether a number of a page is the truth: not below it, and not above it by more than it may be."""
    if shown is None:
        return math.isinf(truth)
    return bool(truth * (1 - TOLERANCE) - absolute <= shown <= truth * (1 + above) + absolute)


def check_promise(record: Any, releases: Sequence[Any], require: Refuse) -> list[str]:
    """The promise of a page follows from the releases; returns what was not computed again."""
    promise = record["promise"]
    _check_words(record, releases, require)
    _check_tests(record, require)
    curves = [curve_of(release["guarantee"]["curve"]) for release in widest(releases)]
    known = [curve for curve in curves if curve is not None]
    curve = together(known) if len(known) == len(curves) else None
    if curve is None:
        return ["the epsilons: the curves of these releases have no sum that this verifier can compute"]
    require(promise["curve"] == curve.text, "the page names another curve than the release's")
    read_at = [one["guarantee"]["read_at"] for one in widest(releases)]
    _check_points(promise, curve, read_at[0] if len(read_at) == 1 else None, require)
    _check_sureness(promise, curve, require)
    _check_pictures(record, curve, require)
    return _check_story(record, releases, require)


def _check_words(record: Any, releases: Sequence[Any], require: Refuse) -> None:
    """Neighbours, unit, theorem and marks are those of the releases."""
    promise, first = record["promise"], releases[0]["guarantee"]
    unit = first["unit"]
    rows = f"{unit['max_rows']} row{'s' * (unit['max_rows'] > 1)}"
    words = "one row" if unit["column"] is None else f"one {unit['column']}, with at most {rows}"
    expected: dict[str, Any] = {
        "adjacency": first["adjacency"],
        "neighbours": CHANGE[first["adjacency"]][0],
        "change": CHANGE[first["adjacency"]][1],
        "unit_is_row": unit["column"] is None,
        "strict": all(one["provenance"]["arithmetic"] == "strict" for one in releases),
        "private": all(one["provenance"]["noise"] == "secure" for one in releases),
    }
    if len(releases) == 1:
        expected |= {"theorem": first["theorem"], "assumptions": first["assumptions"]}
    if unit["column"] is None or unit["column"].isprintable():
        expected["unit"] = words
    for name, text in expected.items():
        require(promise[name] == text, f"the page says another {name} of the promise than the releases")


def _check_tests(record: Any, require: Refuse) -> None:
    """What was not tested, and what contradicts, follow from what was tried."""
    kinds = set()
    for one in record["tried"]:
        untested = one["state"] in ("not a test", "not comparable")
        if not untested and (one["state"] == "refuted" or one["numbers"].get("can_fail", True)):
            kinds.add(one["kind"])
    expected = [] if "audit" in kinds else [NO_AUDIT]
    if "attack" not in kinds:
        expected.append(NO_ATTACK.format("is on this page" if record["also_run"] else "was run"))
    if not any("inversion" in one["name"].lower() for one in record["tried"]):
        expected.append(INVERSION)
    require(record["not_tested"] == expected + ALWAYS, "the page does not say what was not tested")
    against = [one["contradiction"] for one in record["tried"] if one["state"] == "refuted"]
    require(record["contradictions"] == against, "the page hides a contradiction, or says one that is none")
    require(
        all((one["contradiction"] is not None) == (one["state"] == "refuted") for one in record["tried"]),
        "the page hides a contradiction, or says one that is none",
    )
    audits = sum(one["kind"] == "audit" for one in record["tried"])
    require(audits == len(record["audits"]), "the page shows other audits than it stores")


def _check_points(promise: Any, curve: Curve, read_at: float | None, require: Refuse) -> None:
    """Every epsilon at its delta."""
    deltas = {*DELTAS, *curve.own, *([] if read_at is None else [read_at])}
    deltas |= {0.0} if curve.pure is not None and not curve.own else set()
    shown = [point["delta"] for point in promise["points"]]
    require(shown == sorted(deltas, reverse=True), "the page shows its epsilons at other deltas")
    usual = 0.0 if curve.pure is not None and not curve.slack else 1e-6
    if usual:
        own = sorted(delta for delta in {*deltas} - {read_at} | {*DELTAS, *curve.own} if delta >= 1e-6)
        usual = next((delta for delta in own if math.isfinite(curve.epsilon(delta))), 1e-6)
    at = promise["at"]
    require(at["delta"] == (usual if read_at is None else read_at), "the page is called by another delta")
    for point in [*promise["points"], at]:
        check_point(point, curve, require)


def check_point(point: Any, curve: Curve, require: Refuse) -> None:
    """An epsilon at its delta, and the factor that it stands for."""
    require(near(point["epsilon"], curve.epsilon(point["delta"])), "the page shows another epsilon")
    epsilon = point["epsilon"]
    odds = math.inf if epsilon is None or epsilon > 700 else math.exp(epsilon)
    require(near(point["odds"], odds), "the page shows other odds than its epsilon stands for")


def sureness(curve: Curve) -> tuple[float, float]:
    """How much log odds may grow, except with some probability; and that probability."""
    if curve.pure is not None and not curve.slack:
        return curve.pure, 0.0
    powers = [float(f"1e{place}") for place in range(-6, 0)]
    failure = next((one for one in powers if math.isfinite(curve.epsilon(one / 2))), powers[-1])
    first, last = curve.epsilon(failure), curve.epsilon(failure * 1e-6)
    if math.isinf(first):
        return math.inf, failure
    last = first + 10.0 if math.isinf(last) else last
    best = math.inf
    for k in range(2001):
        epsilon = first + (last - first) * k / 2000
        delta = curve.delta(epsilon)
        if delta < failure and epsilon < 600:
            best = min(best, -math.log((failure - delta) / (delta + failure * math.exp(epsilon))))
    return best, failure


def after(prior: float, loss: float | None) -> float:
    """How sure at most, rounded up to a tenth of a per cent."""
    if loss is None or math.isinf(loss):
        return 1.0
    odds = math.log(prior / (1 - prior)) + loss
    ratio = math.exp(-abs(odds))
    sure = 1.0 / (1.0 + ratio) if odds >= 0 else ratio / (1.0 + ratio)
    return min(1.0, math.ceil(1000.0 * sure - 1e-9) / 1000.0)


def _check_sureness(promise: Any, curve: Curve, require: Refuse) -> None:
    """Beliefs after the release, and how often a guess is right."""
    sure = promise["sure"]
    loss, failure = sureness(curve)
    require(sure["failure"] == failure, "the page names another probability of an exception")
    require(near(sure["loss"], loss, above=LOOSE, absolute=1e-6), "the page shows another growth of odds")
    require([row["prior"] for row in sure["after"]] == list(PRIORS), "the page shows other beliefs")
    for row in sure["after"]:
        least_sure = after(row["prior"], loss * (1 - TOLERANCE))
        require(
            least_sure - 1e-9 <= row["at_most"] <= after(row["prior"], loss * (1 + LOOSE) + 1e-6) + 0.0011,
            "the page says that attackers become less sure than they may",
        )
    guess = curve.guess()
    require(
        guess - 1e-7 <= promise["guess"] <= guess * 1.002 + 0.0011,
        "the page shows another rate of right guesses",
    )


def _check_pictures(record: Any, curve: Curve, require: Refuse) -> None:
    """The curves that are drawn are those of the promise; what was tried is drawn beside them."""
    points = record["promise"]["curve_points"]
    grid, series = points["epsilon"], points["series"]
    top = curve.epsilon(1e-10)
    top = max(top if math.isfinite(top) else 1e-3, 1e-3) * 1.05
    require(
        len(grid) == 121 and all(near(x, top * k / 120, above=1e-3) for k, x in enumerate(grid)),
        "the page draws its curve over other epsilons",
    )
    require(len(series) == 1 and series[0]["name"] == "proved", "the page draws another curve")
    for epsilon, delta in zip(grid, series[0]["delta"], strict=True):
        truth = curve.delta(epsilon)
        require(near(delta, truth, above=0.01, absolute=1e-13), "the page draws another curve")
    picture = record["picture"]
    for name, rates in (
        ("linear", [k / 200 for k in range(201)]),
        ("log", [10.0 ** (-4 + k / 30) for k in range(121)]),
    ):
        require(
            len(picture[name]["false_alarm"]) == len(rates)
            and all(
                math.isclose(a, b, rel_tol=1e-5)
                for a, b in zip(picture[name]["false_alarm"], rates, strict=True)
            ),
            "the page draws its picture over other rates",
        )
        _check_proved(picture[name]["series"][0], picture[name]["false_alarm"], curve, require)
    _check_proved(picture["rows"][0], picture["rates"], curve, require)


def _check_proved(line: Any, rates: Sequence[float], curve: Curve, require: Refuse) -> None:
    """What no attacker exceeds."""
    require(line["name"] == line["claim"] == "proved", "the page draws another curve as the proof")
    for rate, found in zip(rates, line["found"], strict=True):
        truth = curve.found(rate)
        require(
            truth - 2e-5 <= found <= truth * 1.03 + 0.004,
            "the page draws another limit of what attackers find",
        )


def _check_story(record: Any, releases: Sequence[Any], require: Refuse) -> list[str]:
    """Several releases one after the other: what each promises alone."""
    by_hash = {one["sha256"]: place for place, one in enumerate(record["releases"])}
    require(len(by_hash) == len(record["releases"]), "the page shows a release twice")
    require(
        len(record["story"]) == (len(releases) if len(releases) > 1 else 0), "the page leaves out a release"
    )
    for chapter in record["story"]:
        guarantee = record["releases"][chapter["place"]]["guarantee"]
        curve = curve_of(guarantee["curve"]) if "stored" not in guarantee["curve"] else None
        if curve is None:
            return [
                "what each release promises alone: its curve is of a kind that this verifier does not know"
            ]
        check_point(chapter["alone"], curve, require)
    places = [chapter["place"] for chapter in record["story"]]
    require(sorted(places) == list(range(len(places))), "the page leaves out a release")
    if places:
        check_point(record["story"][-1]["so_far"], _of_all(record, releases), require)
    return []


def _of_all(record: Any, releases: Sequence[Any]) -> Curve:
    """The curve of all releases, which is known."""
    curves = [curve_of(release["guarantee"]["curve"]) for release in widest(releases)]
    curve = together([curve for curve in curves if curve is not None])
    assert curve is not None
    return curve

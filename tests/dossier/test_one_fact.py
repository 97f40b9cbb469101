"""One fact has one number and one wording: in the summary of a release, in the JSON and on the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.dossier import Dossier, compare
from holdfast.dossier._promise import joint_promise
from holdfast.privacy import ZCDP, Account, ApproxDP, Gaussian, GaussianDP, PrivacyUnit, PureDP
from holdfast.privacy._mechanisms import Laplace
from holdfast.privacy._wording import epsilon_text
from holdfast.release import Release
from holdfast.release._certificate import SHARE, Certificate
from tests.dossier.test_page import text_of


def _released(limit: Any, *, user: bool = False, unit: str = SHARE) -> Release[Any]:
    who = PrivacyUnit.user("patient", max_rows=2) if user else PrivacyUnit()
    account = Account(limit, unit=who)
    noise = (
        Laplace(scale=4.0, l1_sensitivity=1.0)
        if isinstance(limit, PureDP)
        else Gaussian(sigma=40.0, l2_sensitivity=1.0)
    )
    claim = Certificate(
        name="largest error",
        statement="by the law",
        alpha=0.00430171,
        confidence=0.95,
        query_class="all cells",
        unit=unit,
    )
    return Release.of(account, account.release(noise, [3.0]), method="a count", certificates=[claim])


RELEASES: dict[str, Callable[[], Release[Any]]] = {
    "pure": lambda: _released(PureDP(1.0)),
    "gaussian": lambda: _released(GaussianDP(0.3)),
    "approximate": lambda: _released(ApproxDP(1.0, 1e-6)),
    "large delta": lambda: _released(ApproxDP(0.7, 3e-5)),
    "concentrated": lambda: _released(ZCDP(0.02)),
    "users": lambda: _released(GaussianDP(0.3), user=True),
    "records": lambda: _released(GaussianDP(0.3), unit="records"),
    "no unit": lambda: _released(GaussianDP(0.3), unit=""),
    "nothing bounded": lambda: _released(ApproxDP(1.0, 0.2)),
}


@dataclass(frozen=True)
class Facts:
    """What a text says of a promise, wherever it says it."""

    sure: frozenset[str]
    guess: frozenset[str]
    epsilons: frozenset[tuple[float, str]]
    amounts: frozenset[str]


SURE = re.compile(
    r"(?i)whoever was 50 % sure about .*? "
    r"(?:becomes at most ([\d.]+) % sure, ([^.;(]*?)(?:$|[.;(]|, what| over| on average)|is not (kept))"
)
AMOUNT = re.compile(r"(?:: at most|largest error) ([\d.]+(?: %| records)?)(?= of the rows| for| all|$| \()")


def facts_of(text: str) -> Facts:
    """Every statement about sureness, guesses, epsilon and accuracy."""
    text = re.sub(r"\s+([,.;)])", r"\1", " ".join(text.split()))
    named = {" ".join(part for part in one if part).strip() for one in SURE.findall(text)}
    tiles = re.findall(
        r"([\d.]+) % (?:claimed[^:]*: )?sure at most, by the most telling result, if 50 % sure before", text
    )
    epsilons = re.findall(r"epsilon ([\d.e-]+|inf) at delta ([\d.e-]+)", text)
    epsilons += re.findall(r"ε ([\d.e-]+) at δ = ([\d.e-]+)", text)
    return Facts(
        sure=frozenset(named | {one for one in tiles if not any(n.startswith(one) for n in named)}),
        guess=frozenset(re.findall(r"guess(?:es)? right at most ([\d.]+ %)", text)),
        epsilons=frozenset((float(d.rstrip(",.")), e) for e, d in epsilons),
        amounts=frozenset(AMOUNT.findall(text)),
    )


@pytest.mark.parametrize("name", RELEASES)
def test_release_record_and_page_say_the_same(name: str) -> None:
    release = RELEASES[name]()
    made = Dossier(release)
    said, words, page = made.to_json(), facts_of(release.summary()), facts_of(text_of(made.html()))
    short = facts_of(made.summary())
    assert len(words.sure) == len(words.guess) == len(words.amounts) == 1
    assert words.sure == page.sure == short.sure
    assert words.guess == page.guess == short.guess == {f"{100 * said['promise']['guess']:.1f} %"}
    assert words.amounts == page.amounts
    half = next(row["at_most"] for row in said["promise"]["sure"]["after"] if row["prior"] == 0.5)
    (told,) = words.sure
    assert told == "kept" if half == 1 else told.startswith(f"{100 * half:.1f} ")
    points = {
        point["delta"]: "inf" if point["epsilon"] is None else epsilon_text(point["epsilon"])
        for point in said["promise"]["points"]
    }
    assert words.epsilons
    assert page.epsilons or name == "nothing bounded"
    for delta, epsilon in words.epsilons | page.epsilons:
        assert points[delta] == epsilon, delta
    rows = dict(compare({"a": release, "b": release}).rows)
    assert {rows["on average over all results, guesses right at most"][0]} == words.guess
    assert rows["by the most telling result, 50 % sure becomes at most"][0] == f"{100 * half:.1f} %"
    assert {
        rows["largest error (alpha)"][0]
        .removeprefix("at most ")
        .split(" for ")[0]
        .removesuffix(" of the rows")
    } == words.amounts


def test_two_numbers_for_one_fact_are_seen() -> None:
    """The finding: 55.0 % in one place, 74.8 % in another."""
    release = RELEASES["gaussian"]()
    summary = release.summary()
    guess = next(iter(facts_of(summary).guess))
    assert facts_of(summary.replace(guess, "55.0 %")) != facts_of(summary)
    page = text_of(Dossier(release).html())
    sure = re.findall(r"becomes at most ([\d.]+) % sure", page)[0]
    for old, new in (
        (f"{sure} % sure", "74.8 % sure"),
        (f"{sure} %", "74.8 %"),
        (guess, "55.0 %"),
        ("0.431 %", "0.43 %"),
    ):
        assert old in page, old
        for at in [match.start() for match in re.finditer(re.escape(old), page)][:2]:
            changed = page[:at] + new + page[at + len(old) :]
            if "sure" in page[at : at + 40] or "sure" not in old:
                assert facts_of(changed) != facts_of(page), (old, at)


@settings(max_examples=15, deadline=None)
@given(st.floats(0.01, 3.0), st.sampled_from(["gaussian", "approximate", "pure"]))
def test_for_every_promise(size: float, kind: str) -> None:
    limit = {"gaussian": GaussianDP(size), "approximate": ApproxDP(size, 1e-6), "pure": PureDP(size)}[kind]
    account = Account(limit)
    release = Release.of(account, np.zeros(1), method="m")
    said, words = joint_promise([release]), facts_of(release.summary())
    assert words.guess == {f"{100 * said.guess:.1f} %"}
    assert words.sure == facts_of(said.sure.words(said.unit)).sure
    assert said.at is not None
    assert said.at.epsilon == next(point.epsilon for point in said.points if point.delta == said.at.delta)

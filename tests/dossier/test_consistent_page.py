"""No part of a page contradicts another: rules that hold for every record, on pages of many different ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from holdfast._assumption import READ_FROM_DATA, Assumption
from holdfast._extensions import Author
from holdfast.audit import AuditResult
from holdfast.dossier import Dossier
from holdfast.dossier._evidence import Attempt, AuditNumbers
from holdfast.dossier._record import BudgetReset, Record
from holdfast.errors import NotPrivateWarning
from holdfast.ledger import Ledger
from holdfast.release import Release
from tests.dossier.crawl import Node, crawl, tree
from tests.dossier.dossier_samples import FakeAttack, audit, counts, paid
from tests.dossier.test_evidence import released, trained

AUDITS: dict[str, tuple[AuditResult, ...]] = {
    "none": (),
    "a test": (trained(200, 200),),
    "cannot fail": (trained(250, 250, interference=float("inf")),),
    "power unknown": (audit(),),
    "refuted": (trained(0, 0),),
    "refuted without power": (audit(99),),
    "not comparable": (trained(200, 200, adjacency="add_remove"),),
    "one of two refutes": (trained(200, 200), trained(0, 0)),
}
ATTACKS: dict[str, tuple[FakeAttack, ...]] = {
    "none": (),
    "consistent": (FakeAttack(),),
    "refuted": (FakeAttack(state="refuted"),),
    "warning": (FakeAttack(state="warning"),),
    "not comparable": (FakeAttack(state="another unit"),),
}
ASSUMED = {
    "nothing": (),
    "harmless": (Assumption(kind="public", text="the year is public"),),
    "a draft schema": (
        Assumption(kind=READ_FROM_DATA, text="the bounds were drafted from the data", voids=True),
    ),
    "a strange mechanism": (Author(noun="mechanism", name="Own", promise="is private").assumption,),
}
MADE: dict[str, Callable[..., Release[Any]]] = {
    "secure": lambda **more: counts(name="a count", **more),
    "seeded": lambda **more: counts(name="a count", seed=1, **more),
    "users": lambda **more: counts(name="a count", user="patient", **more),
}


def in_memory() -> Iterator[tuple[str, Record]]:
    """Every release with every assumption, audit and attack; the audits that matter, beside everything."""
    for (how, make), (what, assumed), (kind, audits), (name, attacks) in product(
        MADE.items(), ASSUMED.items(), AUDITS.items(), ATTACKS.items()
    ):
        if how != "secure" and (what != "nothing" or name not in ("none", "refuted")):
            continue
        if what != "nothing" and (kind not in ("none", "a test", "refuted") or name != "none"):
            continue
        yield (
            f"{how}, {what}, {kind}, {name}",
            Dossier(
                make(assumptions=assumed),
                attacks,
                audits,
                audience="internal" if attacks else "public",
                also_run=2 if kind == "a test" and not attacks else 0,
            ).record,
        )
    yield "several", Dossier([released(), released(1.0, "another")], audits=AUDITS["a test"]).record


def with_ledger(folder: Path) -> Iterator[tuple[str, Record]]:
    """A ledger that paid: at hand or not, with an approver or none, reset, nothing left, closed elsewhere."""
    there = paid(folder)
    yield "not at hand", Dossier.of_files([there.release]).record
    with Ledger.open(there.ledger, read_only=True) as ledger:
        sound = Dossier.of_files([there.release], ledger=ledger, audits=AUDITS["a test"]).record
    yield "paid", sound
    (payment,), (budget,) = sound.payments, sound.budgets
    nobody = Assumption(
        kind="no approver", text=f"nobody is named who approved the account {payment.account}"
    )
    yield "nobody approved", replace(sound, payments=(replace(payment, approver=""),), doubts=(nobody,))
    reset = BudgetReset(at="2026-01-01", approver="R. Officer", reason="a new year")
    yield "reset", replace(sound, budgets=(replace(budget, reset=reset),))
    yield "nothing left", replace(sound, budgets=(replace(budget, what_if=()),))


def records(folder: Path) -> Iterator[tuple[str, Record]]:
    with pytest.warns(NotPrivateWarning):
        yield from list(in_memory())
    yield from with_ledger(folder)
    # Ordinary arithmetic, and a promise that bounds nothing.
    plain = Dossier(released()).record
    yield "idealised", replace(plain, promise=replace(plain.promise, strict=False))
    after = tuple(replace(row, at_most=1.0) for row in plain.promise.sure.after)
    yield (
        "nothing bounded",
        replace(plain, promise=replace(plain.promise, sure=replace(plain.promise.sure, after=after))),
    )


class Page:
    """A page, as a reader sees it."""

    def __init__(self, record: Record) -> None:
        from holdfast.dossier._page import render

        self.html = render(record)
        self.root = next(n for n in tree(self.html).all() if n.tag == "main")
        self.text = re.sub(r"\s+", " ", self.root.text)
        self.words = re.sub(r"\s+", " ", "".join(_before_sources(self.root)))

    def classed(self, name: str) -> list[Node]:
        return [n for n in self.root.all() if name in n.attributes.get("class", "").split()]

    def says(self, *texts: str) -> bool:
        return any(text in self.words for text in texts)


def _before_sources(node: Node) -> Iterator[str]:
    for one in node.parts:
        if isinstance(one, str):
            yield one
        elif one.attributes.get("id") not in ("sources", "references"):
            yield from _before_sources(one)
            yield (
                " "
                if one.tag
                in ("p", "li", "td", "th", "h2", "h3", "div", "caption", "summary", "text", "title", "desc")
                else ""
            )


def broken_rules(record: Record) -> list[str]:
    """Every rule that the page of this record breaks."""
    page, broken = Page(record), list[str]()

    def rule(name: str, holds: bool) -> None:
        if not holds:
            broken.append(name)

    refuted, seeded = bool(record.contradictions), not record.promise.private
    void, red = refuted or seeded, any(one.voids for one in record.doubts)
    tests = [one for one in record.tried if one.kind == "audit" and _can_fail(one)]
    label = [node.text for node in page.classed("state")]

    # Banner, box, tiles, tables and picture speak of the same promise.
    rule("one alarm each", len(page.classed("alarm")) == refuted + seeded)
    box = page.classed("promise")[0].text
    rule("the box refutes", ("Claimed, and refuted:" in box) == refuted)
    rule("the box is void", ("Claimed, and void:" in box) == (seeded and not refuted))
    rule("nothing is called void that is not", void or not page.says("laimed, and"))
    promised = [
        n
        for n in page.classed("tiles")[0].all()
        if n.tag == "li" and ("sure at most" in n.text or "at δ" in n.text)
    ]
    rule(
        "tiles of the promise",
        len(promised) >= 2 and all(("void" in n.attributes.get("class", "")) == void for n in promised),
    )
    rule("and in words", all(("claimed, and" in n.text) == void for n in promised))
    rule("the picture", page.says("impossible, by the proof") != void)
    rule("its caption", page.says("is proved: no attacker reaches") != void)
    rule("the theorem", page.says("to which this program does not keep") == refuted)
    rule("the footer", not (seeded and page.says("nothing on it was computed from the data without noise")))

    # Assumptions.
    bare = page.says("rests on no assumption")
    rule("no assumption", not (bare and (record.doubts or (page.classed("red") and not record.payments))))
    rule(
        "no assumption, and ideal arithmetic", not (bare and page.says("The proof assumes ideal arithmetic"))
    )
    rule("no assumption, and a reset", not (bare and page.says("what was released before adds")))
    rule(
        "reservations",
        page.says("With these reservations, which holdfast cannot check") == (red and not void),
    )
    lines = [n.text for n in page.root.all() if n.tag == "li" and n.attributes.get("class") == "red"]
    rule("red lines are red", all(one.text in lines for one in record.doubts if one.voids))

    # Audits and attacks.
    rule("a tile for a test alone", page.says("would have been noticed by the audit") == bool(tests))
    rule(
        "its tile says what the banner says",
        not (tests and any(o.state == "refuted" for o in tests)) or page.says("it refutes the promise"),
    )
    rule(
        "none that could have failed",
        page.says("none that could have failed was run") == (not tests and not _accused(record, "audit")),
    )
    untested = page.says("Membership attacks on this release: none")
    shown = [one for one in record.tried if one.kind == "attack" and one.state != "not comparable"]
    rule("attacks that were not run", untested == (not shown))
    rule("attacks that are not shown", not (record.also_run and page.says("none was run")))
    rule(
        "green is for tests",
        label.count("consistent")
        == _times(record) * sum(_consistent(one) for one in record.tried) - _only_inside(record),
    )
    unknown = any(
        one.kind == "audit" and one.state == "consistent" and not _can_fail(one) for one in record.tried
    )
    rule("not counted", ("not counted as a test" in label) == unknown)
    rule(
        "green and not counted",
        not (page.says("so it is not counted as a test") and any(map(_green, record.tried))),
    )
    rule("its own words", all(_own_words(one) for one in record.tried))

    # What was not tested, and what each claim rests on, stands in both editions; numbers have their units.
    rule("not tested", all(text in page.words for text in record.not_tested))
    grounds = next((n.text for n in page.classed("grounds")), "")
    rule("grounds", all(one.text in grounds for one in record.doubts) and "the promise" in grounds)
    rule(
        "grounds of audits",
        ("counting, not the proof" in grounds) == any(o.kind == "audit" for o in record.tried),
    )
    rule(
        "grounds of attacks",
        ("measurement on real" in grounds) == any(o.kind == "attack" for o in record.tried),
    )
    rule("grounds of the ledger", ("no second ledger" in grounds) == bool(record.payments))
    rule("a story for several", page.says("one after the other") == (len(record.releases) > 1))
    claims = [claim for one in record.releases for claim in one.certificates]
    rule("units", all(claim.unit or page.says("the release names no unit") for claim in claims))
    weak = any(isinstance(o.numbers, AuditNumbers) and o.numbers.epsilon_lower == 0 for o in record.tried)
    rule("zero is explained", page.says("it is the least that a bound can be") == weak)
    rule("epsilon in words", page.says("bounds how much more probable the data of"))

    # Ledger and sign-off.
    rule(
        "the ledger's part",
        page.says("nobody counts what else is released") == (not record.releases[0].provenance.head),
    )
    rule(
        "approver not shown",
        page.says("approver and purpose are not shown")
        == (bool(record.releases[0].provenance.head) and not record.payments),
    )
    rule(
        "nobody approved",
        page.says("nobody is named who approved") == any(not one.approver for one in record.payments),
    )
    rule("the command", ("--ledger" in page.words) == bool(record.payments))

    # Sentences are whole, and numbers are where they lead.
    rule("glued sentences", re.search(r"[a-z)%][.;:][A-Z“]", page.words) is None)
    rule("spaces", re.search(r"\s[.,;](\s|$)|\( | \)", page.words) is None)
    rule("no words of Python", re.search(r"\bNone\b|\bnan\b|\{\{|\bTrue\b|\bFalse\b", page.words) is None)
    rule("the crawl", crawl(page.html).problems == ())
    return broken


def _can_fail(one: Attempt) -> bool:
    return isinstance(one.numbers, AuditNumbers) and one.numbers.can_fail


def _consistent(one: Attempt) -> bool:
    return one.state == "consistent" and (one.kind == "attack" or _can_fail(one))


def _green(one: Attempt) -> bool:
    return isinstance(one.numbers, AuditNumbers) and one.numbers.no_noise is None and _consistent(one)


def _times(record: Record) -> int:
    return 2 if record.audience == "internal" else 1


def _only_inside(record: Record) -> int:
    """Attacks have one label, in the internal table."""
    return sum(_consistent(one) for one in record.tried if one.kind == "attack")


def _accused(record: Record, kind: str) -> bool:
    return any(one.kind == kind and one.state == "refuted" for one in record.tried)


def _own_words(one: Attempt) -> bool:
    said = re.findall(r"(?m)(?:^  claim: .*|\bverdict): ([a-z ]+)$", one.summary)
    return all(text == one.state for text in said)


def test_no_part_of_a_page_contradicts_another(tmp_path: Path) -> None:
    seen = 0
    for name, record in records(tmp_path):
        assert broken_rules(record) == [], name
        seen += 1
    assert seen > 80


@pytest.mark.parametrize("kind", AUDITS)
def test_every_kind_of_audit_alone(kind: str) -> None:
    assert broken_rules(Dossier(counts(name="a count"), audits=AUDITS[kind], also_run=1).record) == []


def test_the_rules_can_be_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages on which one part says something else than the others."""
    from holdfast.dossier import _page as page

    refuted = Dossier(released(), audits=AUDITS["refuted"]).record
    sound = Dossier(released(), audits=AUDITS["a test"]).record
    counted = Dossier(counts(name="a count")).record
    drawn = page.render
    for record, old, new in (
        (refuted, 'class="void"', ""),
        (refuted, "impossible, if the promise held", "impossible, by the proof"),
        (refuted, "Claimed, and refuted", "Proved"),
        (sound, "It would have noticed", "It rests on no assumption.It would have noticed"),
        (sound, "consistent</span>", "refuted</span>"),
        (sound, "Membership attacks on this release", "Attacks"),
        (sound, "nobody counts what else", "the ledger counts what else"),
        (sound, "The computer itself: timing", "Nothing: timing"),
        (sound, "counting, not the proof", "the proof"),
        (counted, "the release names no unit", "records"),
        (sound, "bounds how much more probable", "is"),
    ):
        assert old in drawn(record), old
        monkeypatch.setattr(page, "render", lambda one, old=old, new=new: drawn(one).replace(old, new))
        assert broken_rules(record), old
    monkeypatch.setattr(page, "render", drawn)
    assert broken_rules(refuted) == broken_rules(sound) == []

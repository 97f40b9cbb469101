"""Sentences on a page say what its own tables say: made anew from them, they are the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest
from studies.reproductions import audit_words, excess_words, release_words, runtime_words
from studies.reproductions.seed_tables import blocks, means, stored_stamp

from tests.paths import ROOT

Page = Callable[[Mapping[str, Sequence[str]], str], list[str]]
PAGES: dict[str, Page] = {
    "000_excess_risk": excess_words.page,
    "000_query_release": release_words.page,
    "004_one_run_audit": audit_words.page,
}


@pytest.mark.parametrize("name", PAGES)
def test_words_are_made_from_the_tables(name: str) -> None:
    text = (ROOT / "studies" / "reproductions" / "results" / f"{name}.md").read_text(encoding="utf-8")
    made = "\n".join(PAGES[name](blocks(name), stored_stamp(name))) + "\n"
    assert made == text, f"run: python -m studies.reproductions.{name} --stored"


def test_other_numbers_make_other_words() -> None:
    """What a sentence claims turns round when the numbers do."""
    found = blocks("004_one_run_audit")
    title = next(name for name in found if name.startswith("Q 2.3"))
    head, rule, *rows = found[title]
    assert audit_words.dimension_words(means(found[title]), count=1000, epsilon=16).startswith("The larger d")
    turned = means([head, rule, *reversed(rows[2:])])
    assert audit_words.dimension_words(turned, count=1000, epsilon=16).startswith(
        "A larger d does not always"
    )
    slopes = {name: {"in n": -9.0, "in log Q": 0.0, "in d": 0.0} for name in release_words.PRINTED}
    fast, slow = release_words.compared(slopes, "in n", 0)
    assert len(fast) == 5
    assert not slow
    slopes[release_words.SEP]["in n"] = -0.2
    assert release_words.compared(slopes, "in n", 0)[1] == [release_words.SEP]
    assert [excess_words.against(own, -0.5) for own in (-0.6, -0.5, -0.4)] == [
        "faster than",
        "about as fast as",
        "slower than",
    ]


def test_ratios_are_compared_with_the_printed_ones() -> None:
    epochs = {
        "noiseless": {20.0: [1.0]},
        "bolt-on": {20.0: [1.0]},
        "SCS13": {20.0: [2.5]},
        "BST14": {20.0: [6.0]},
    }
    found = {"T": (epochs, dict[str, dict[float, list[float]]]())}
    assert runtime_words.counted(found) == "Of 2 ratios 1 are as printed, 1 larger and 0 smaller."
    assert (
        "| T | 20 epochs, b = 10 | 2 to 3 | 2.5 (as printed) | 6.0 (2.0 times above) | 1.00 |"
        in runtime_words.ratios(found)
    )
    assert runtime_words.agreement(0.5, 1.0, 6.0) == "0.5 (2.0 times below)"

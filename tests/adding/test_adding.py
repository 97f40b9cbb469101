"""A learner, a synthesiser, an attack, an engine, a column kind: each is two files, its own and that of its registry.

In a copy of the tree each is added as somebody would add it. Before `make lists` every check that fails names that
command; after it none fails, and no file was touched by hand but the two.
"""

from __future__ import annotations

import re

import pytest

from tests.adding.tree import WRITTEN, Toy, Tree
from tests.studies.size import Study, deep

TOYS = (
    Toy(name="one_sum", package="holdfast.learn.methods", entry="ONE_SUM", behind="    objective.METHOD,"),
    Toy(
        name="columns_only",
        package="holdfast.synth.methods",
        entry="COLUMNS_ONLY",
        behind="    adaptive.METHOD,",
    ),
    Toy(
        name="margin",
        package="holdfast.attack._attacks",
        entry="MARGIN",
        behind="    metric_based.MODIFIED_ENTROPY,",
    ),
    Toy(name="feather_files", package="holdfast.data._engines", entry="FEATHER", behind="ENGINES = ("),
    Toy(
        name="weekday",
        package="holdfast.data._schema",
        entry="Weekday",
        behind="for column in (Numeric, Categorical,",
        registry="kinds",
    ),
)
METHODS = ("one_sum", "columns_only", "margin")
NAMED = " or ".join(METHODS)
LISTS = (
    "tests/docs/test_docs.py",
    "tests/docs/test_architecture.py",
    "tests/docs/test_public_names.py",
    "tests/contracts/test_attacks.py",
    "tests/refute/test_broken.py",
    "tests/learn/test_choice.py",
    "tests/synth/test_choice.py",
)
"""Tests that look at all there is."""
ABOUT_ALL = "fresh or every or names or registry or tree or described or unique"
"""Words in the names of those among them that are about everything, and not about one entry."""
CHOSEN = f"({ABOUT_ALL}) and not (site or fragment or headline)"
"""No toy can change what the last three say: of pictures on the site, of fragments, of the names at the top."""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The copy, with the toys added and nothing else done."""
    copy = Tree(tmp_path_factory.mktemp("adding"))
    for toy in TOYS:
        toy.put(copy.root)
    return copy


def test_two_files_are_touched_by_hand(tree: Tree) -> None:
    expected = {name for toy in TOYS for name in toy.touched}
    assert tree.touched() == expected
    assert len(expected) == 2 * len(TOYS)
    checked = tree.run("-m", "ruff", "check", "--no-cache", *sorted(expected))
    assert checked.returncode == 0, checked.stdout


def test_what_lists_them_fails_with_the_command_that_writes_it_and_then_holds(tree: Tree) -> None:
    said = tree.tests(*LISTS, "-k", CHOSEN, "-m", "not slow")
    failed = re.findall(r"^E +(?:AssertionError: )?(.*)$", said.stdout, flags=re.M)
    count = int(next(iter(re.findall(r"(\d+) failed", said.stdout)), "0"))
    assert count == sum("run: make lists" in line for line in failed) > 0, said.stdout
    tree.touched()
    lists = tree.run("docs/make_lists.py", "--pages")
    assert lists.returncode == 0, lists.stderr
    written = tree.touched()
    assert written
    assert all(WRITTEN.fullmatch(name) for name in written), written
    texts = "".join((tree.root / name).read_text(encoding="utf-8") for name in written)
    assert all(name in texts for name in METHODS)
    said = tree.tests(*LISTS, "-k", CHOSEN, "-m", "not slow")
    assert said.returncode == 0, said.stdout


def test_contracts_refutation_commands_and_facts_find_them_by_themselves(tree: Tree) -> None:
    said = tree.run("-m", "tests.adding.look")
    assert said.returncode == 0, said.stdout + said.stderr


def test_everything_that_there_is_holds_with_them(tree: Tree, study: Study) -> None:
    """The whole of it by `make deep`: facts of seeded results, every test of theirs, all that is fast of the others."""
    if not deep():
        pytest.skip("make deep does it")
    tree.touched()
    lists = tree.run("docs/make_lists.py")
    assert lists.returncode == 0, lists.stderr
    assert all(WRITTEN.fullmatch(name) for name in tree.touched())
    said = tree.tests("tests", "-k", f"{NAMED} or feather or every_kind")
    assert said.returncode == 0, said.stdout
    said = tree.tests("tests/test_frozen.py", *LISTS)
    assert said.returncode == 0, said.stdout
    study.note(tests=int(re.findall(r"(\d+) passed", said.stdout)[0]))

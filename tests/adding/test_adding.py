"""A learner and a synthesiser are two files: their own, and the line in the registry. The rest finds them.

In a copy of the tree each is added as somebody would add it. Before `make lists` every check that fails names that
command; after it none fails, and no file was touched by hand but the two.
"""

from __future__ import annotations

import re

import pytest

from tests.adding.tree import WRITTEN, Toy, Tree
from tests.studies.size import Study, deep

TOYS = (
    Toy(name="one_sum", package="holdfast.learn.methods", registry="METHODS"),
    Toy(name="columns_only", package="holdfast.synth.methods", registry="METHODS"),
)
NAMED = " or ".join(toy.name for toy in TOYS)
LISTS = (
    "tests/docs/test_docs.py",
    "tests/docs/test_architecture.py",
    "tests/docs/test_public_names.py",
    "tests/docs/test_docstrings.py",
    "tests/contracts/test_learn_methods.py",
    "tests/refute/test_broken.py",
    "tests/learn/test_choice.py",
    "tests/synth/test_choice.py",
    "tests/test_tree.py",
)
"""Tests that look at all there is."""
ABOUT_ALL = "fresh or every or names or registry or tree or described or unique"
"""Words in the names of those among them that are about everything, and not about one entry."""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The copy, with the toys added and nothing else done."""
    copy = Tree(tmp_path_factory.mktemp("adding"))
    for toy in TOYS:
        toy.put(copy.root)
    return copy


def test_two_files_are_touched_by_hand(tree: Tree) -> None:
    expected = {f"{toy.folder}/{name}.py" for toy in TOYS for name in (toy.name, "__init__")}
    assert tree.touched() == expected
    checked = tree.run("-m", "ruff", "check", "--no-cache", *sorted(expected))
    assert checked.returncode == 0, checked.stdout


def test_what_lists_them_fails_with_the_command_that_writes_it_and_then_holds(tree: Tree) -> None:
    said = tree.tests(*LISTS, "-k", f"({ABOUT_ALL}) and not site", "-m", "not slow")
    failed = re.findall(r"^E +(?:AssertionError: )?(.*)$", said.stdout, flags=re.M)
    count = int(next(iter(re.findall(r"(\d+) failed", said.stdout)), "0"))
    assert count == sum("run: make lists" in line for line in failed) > 0, said.stdout
    tree.touched()
    lists = tree.run("docs/make_lists.py", "--pages")
    assert lists.returncode == 0, lists.stderr
    written = tree.touched()
    assert written
    assert all(WRITTEN.fullmatch(name) for name in written), written
    for toy in TOYS:
        assert any(toy.name in (tree.root / name).read_text(encoding="utf-8") for name in written), toy.name
    said = tree.tests(*LISTS, "-k", f"({ABOUT_ALL}) and not site", "-m", "not slow")
    assert said.returncode == 0, said.stdout


def test_contracts_options_and_refutation_find_them_by_themselves(tree: Tree) -> None:
    said = tree.tests("tests/contracts", "tests/refute", "tests/synth/methods", "--collect-only", "-k", NAMED)
    found = said.stdout
    for expected in (
        "test_learn_methods.py::test_method[one_sum-says_what_it_rests_on]",
        "test_learn_methods.py::test_method[one_sum-refuses_an_option_of_another_type-scale]",
        "test_learn_methods.py::test_a_method_lies_in_the_file_of_its_name[one_sum]",
        "test_missing_targets.py",
        "test_synth_methods.py::test_method[columns_only-its_declaration_is_complete]",
        "test_learners.py::test_every_method_is_tried_with_its_losses_and_choices[one_sum]",
        "test_synthesisers.py::test_",
        "test_broken.py::test_methods_with_samples_are_those_that_say_so[one_sum]",
    ):
        assert expected in found, expected
    said = tree.run("-m", "tests.adding.look")
    assert said.returncode == 0, said.stdout + said.stderr


def test_everything_that_there_is_holds_with_them(tree: Tree, study: Study) -> None:
    """The whole of it by `make deep`: facts of seeded results, every test of theirs, all that is fast of the others."""
    if not deep():
        said = tree.tests("tests/contracts/test_learn_methods.py", "-k", "one_sum")
        assert said.returncode == 0, said.stdout
        study.note(tests=1)
        return
    tree.touched()
    lists = tree.run("docs/make_lists.py")
    assert lists.returncode == 0, lists.stderr
    assert all(WRITTEN.fullmatch(name) for name in tree.touched())
    said = tree.tests("tests", "-k", NAMED)
    assert said.returncode == 0, said.stdout
    said = tree.tests("tests/test_frozen.py", *LISTS)
    assert said.returncode == 0, said.stdout
    study.note(tests=int(re.findall(r"(\d+) passed", said.stdout)[0]))

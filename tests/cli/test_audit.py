"""`holdfast audit --kind transcript`: of a learning method on public tables, and of a function on two tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from holdfast._cli.app import app

CLAIM = ("--kind", "transcript", "--epsilon", "1", "--delta", "1e-3", "--adjacency", "replace")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["audit", *arguments])


def test_a_method_runs_on_public_tables_and_says_what_it_costs_first() -> None:
    shown = run("output", *CLAIM, "--runs", "64", "--seed", "1")
    assert shown.exit_code == 0, shown.output
    first, *rest = shown.output.splitlines()
    assert first.startswith("planned: 64 runs on each of two tables, about")
    assert "CPU seconds" in first
    assert any("public rows only" in line for line in rest)
    document = json.loads(run("output", *CLAIM, "--runs", "64", "--seed", "1", "--json").output)
    assert document["verdict"] == "consistent"
    assert document["result"]["rows"] == "public"


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Two tables of zeros, one of them with a one, and functions in the current folder."""
    monkeypatch.chdir(tmp_path)
    table = np.zeros((20, 1))
    np.save("first.npy", table)
    table[-1] = 1.0
    np.save("second.npy", table)
    Path("my_sums.py").write_text(
        "from holdfast.privacy import Gaussian\n"
        "def sound(rows, account):\n"
        "    return account.release(Gaussian.within(account.limit, l2_sensitivity=1.0), rows.sum(axis=0))\n"
        "def leaky(rows, account):\n"
        "    return account.release(Gaussian.within(account.limit, l2_sensitivity=1.0), 8 * rows.sum(axis=0))\n"
    )
    return "first.npy", "second.npy"


def test_a_function_on_two_tables_is_consistent_or_refuted_with_1(tables: tuple[str, str]) -> None:
    given = (
        "--data",
        tables[0],
        "--neighbour",
        tables[1],
        "--runs",
        "300",
        "--currency",
        "gdp",
        "--seed",
        "1",
    )
    assert run("my_sums:sound", *CLAIM, *given).exit_code == 0
    shown = run("my_sums:leaky", *CLAIM, *given)
    assert shown.exit_code == 1, shown.output
    assert "REFUTED" in shown.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("dp_sgd", *CLAIM[:-1], "add_remove"), "secret coins"),
        (("nothing", *CLAIM), "a learning method, one of"),
        (("my_sums:sound", *CLAIM, "--data", "first.npy"), "two tables"),
        (("output", *CLAIM, "--classes", "no", "yes"), "classes must be left out for transcript"),
        (("output", *CLAIM, "--row-norm", "2"), "row_norm must be left out for transcript"),
        (("output", *CLAIM, "--data", "first.npy"), "public tables of its own"),
        (("my_sums:sound", "--epsilon", "1", "--adjacency", "replace"), "--data is needed"),
        (
            (
                "my_sums:sound",
                "--epsilon",
                "1",
                "--adjacency",
                "replace",
                "--data",
                "first.npy",
                "--seconds",
                "1",
            ),
            "it is for transcript",
        ),
    ],
)
def test_what_does_not_go_together_is_said(
    tables: tuple[str, str], arguments: tuple[str, ...], words: str
) -> None:
    shown = run(*arguments)
    assert shown.exit_code == 2, shown.output
    assert words in shown.output

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

import holdfast.refute._broken
import holdfast.refute._subjects
from holdfast._cli.app import app
from holdfast.refute._subject import NamedSubject, Subject
from holdfast.refute._trial import Analysis


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["refute", *arguments])


def computed(name: str, value: float, *, broken: str = "") -> Subject:
    return Subject(
        name=name, claim="1", trials=(Analysis(what="", value=lambda: value, claimed=1.0),), broken=broken
    )


def test_one_by_name() -> None:
    shown = run("classical")
    assert shown.exit_code == 0, shown.output
    assert "1 of 1 broken versions refuted" in shown.output
    shown = run("randomised_response", "--table")
    assert shown.exit_code == 0, shown.output
    assert "RandomisedResponse(epsilon=1.0, categories=2)" in shown.output
    assert "survived" in shown.output
    assert "p 0." in shown.output


def test_json() -> None:
    shown = run("averag", "--json")
    document = json.loads(shown.output)
    assert shown.exit_code == 0
    assert {verdict["name"]: verdict["refuted"] for verdict in document["verdicts"]} == {
        "averaged_iterates": False,
        "averaging_without_factor": True,
    }


@pytest.mark.parametrize(
    ("value", "broken", "code"), [(2.0, "", 1), (0.5, "claims too much", 1), (0.5, "", 0)]
)
def test_exit_codes(monkeypatch: pytest.MonkeyPatch, value: float, broken: str, code: int) -> None:
    monkeypatch.setattr(
        holdfast.refute._subjects,
        "REGISTRY",
        (lambda: [NamedSubject(name="mine", make=lambda: computed("mine", value, broken=broken))],),
    )
    assert run("mine").exit_code == code
    assert "FAILED" in run("mine").output or code == 0


@pytest.mark.slow
def test_the_broken_demo_ends_in_red_with_1() -> None:
    shown = CliRunner().invoke(app, ["refute", "bolt_on", "--broken", "--table"], color=True)
    assert shown.exit_code == 1, shown.output
    assert "\x1b[37m\x1b[41m" in shown.output  # white on red
    assert "REFUTED: bolt_on_divided_by_batch" in shown.output
    assert "printed noise" in shown.output


def test_an_unknown_name_exits_with_2_and_names_the_known() -> None:
    shown = run("nothing")
    assert shown.exit_code == 2
    assert "bolt_on" in shown.output

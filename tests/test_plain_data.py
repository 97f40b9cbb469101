"""JSON and TOML whose text asks for more memory than a file of its size may have are refused before they are parsed."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import _plain_data
from holdfast._plain_data import parse_json, parse_toml
from holdfast.errors import FormatError

MOST = 2**24
TOML = {
    "dotted keys": "a." * 5_000 + "a = 1",
    "tables": "".join(f"[a{number}]\n" for number in range(90_000)),
    "tables in tables": "".join(f"[a.b.c{number}]\n" for number in range(60_000)),
    "mappings": "a = [" + "{}," * 300_000 + "]",
    "lists": "a = [" + "[]," * 1_800_000 + "]",
    "behind a text": 'a = ["""b"""", ' + "[]," * 1_800_000 + ' "]',
    "behind a comment": '# """\na = [' + "[]," * 1_800_000 + '] # """',
    "behind quotes": "a = ['''x''''', " + "[]," * 1_800_000 + " '']",
}


@pytest.mark.parametrize("name", TOML)
def test_toml_that_would_grow_is_not_parsed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tomllib, "loads", lambda text: pytest.fail("it was parsed"))
    with pytest.raises(FormatError, match=r"more tables and lists|more than 16 parts"):
        parse_toml(TOML[name].encode(), "a note", most_bytes=MOST)


def test_what_looks_like_tables_inside_texts_does_not_count() -> None:
    text = "a = '" + "[{." * 300_000 + "'\n# " + "[{." * 300_000
    assert parse_toml(text.encode(), "a note", most_bytes=MOST)["a"].startswith("[{.")


def test_toml_that_is_none_is_said_without_its_text() -> None:
    for text in ("secret", "secret = [" + "[" * 3000, "a = '\x00secret'", "[a]\n[a]"):
        with pytest.raises(FormatError, match="a note is not valid TOML") as error:
            parse_toml(text.encode(), "a note", most_bytes=MOST)
        assert "secret" not in str(error.value)
    with pytest.raises(FormatError, match="at most 3 bytes"):
        parse_toml(b"a = 1", "a note", most_bytes=3)
    with pytest.raises(FormatError, match="UTF-8"):
        parse_toml(b"a = '\xff'", "a note", most_bytes=MOST)


@given(
    st.text(alphabet=list("\"'\\#\n= [a"), max_size=30),
    st.text(alphabet=list("\"'\\#\n] a"), max_size=30),
)
def test_nothing_that_toml_reads_is_hidden_from_the_count(before: str, after: str) -> None:
    """A list of lists stands between two pieces of quotes: wherever TOML sees the lists, they are counted."""
    text = f"{before}[[],[],[]]{after}"
    try:
        seen = _lists(tomllib.loads(text))
    except ValueError:
        return
    assert _plain_data._TOML_TEXTS.sub("", text).count("[") >= seen


@pytest.mark.parametrize(
    "text", ['"""\n' + '\\"""\n' * 9, '"' + '\\"' * 9, "'''" + "\n'" * 9, '"""' + '\\"' * 9 + "\\"]
)
def test_a_text_that_never_ends_is_taken_apart_once(text: str) -> None:
    """Whatever begins in it would be looked for to the end again, a square of its length in all."""
    pieces = _plain_data._TOML_TEXTS.findall(text)
    assert "".join(pieces).rstrip("\\") == text.rstrip("\\")
    assert len(pieces) == 1
    assert len(_plain_data._JSON_TEXTS.findall(b'["' + b'\\"' * 9)) == 1


def _lists(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_lists, value.values()))
    return 1 + sum(map(_lists, value)) if isinstance(value, list) else 0


def test_json_in_another_encoding_is_not_read() -> None:
    for encoding in ("utf-16", "utf-16-le", "utf-32"):
        with pytest.raises(FormatError):
            parse_json("[1]".encode(encoding), "a note")
    assert parse_json(b"\xef\xbb\xbf[1]", "a note") == [1]

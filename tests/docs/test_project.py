"""What a project is known by: its changelog, its key, its templates and what its workflows call."""

from __future__ import annotations

import datetime
import re
from runpy import run_path

import pytest

from tests.paths import ROOT

CHANGELOG = run_path(str(ROOT / "docs" / "make_changelog.py"))
WORKFLOWS = {
    path.stem: path.read_text(encoding="utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")
}


def test_fragments_are_gathered_by_kind_with_security_first() -> None:
    fragments = {
        "b.md": "**Fixed** a thing.\n",
        "a.md": "**Security** a promise:\nsmaller.\n",
        "c.md": "**Fixed** more.",
    }
    made = CHANGELOG["section"](fragments, version="0.2.0", date="2027-01-01")
    assert made == (
        "## 0.2.0 (2027-01-01)\n\n### Security\n\n- A promise: smaller.\n\n### Fixed\n\n- A thing.\n- More.\n"
    )
    with pytest.raises(ValueError, match=r"d\.md"):
        CHANGELOG["section"]({"d.md": "**Improved** it."}, version="0.2.0", date="2027-01-01")
    with pytest.raises(ValueError, match="nothing to release"):
        CHANGELOG["section"]({}, version="0.2.0", date="2027-01-01")


def test_a_fragment_of_several_kinds_is_parted_and_its_links_lead_on() -> None:
    text = "**Added** a page ([it](synth.md#a)),\nand [names](../docs/api/index.md). **Fixed** *all* of [it](https://a.b)."
    made = CHANGELOG["section"]({"a.md": text}, version="0.2.0", date="2027-01-01")
    assert made.endswith(
        "### Added\n\n- A page ([it](docs/synth.md#a)), and [names](docs/api/index.md).\n\n"
        "### Fixed\n\n- *all* of [it](https://a.b).\n"
    )


def test_the_page_of_the_site_shows_each_release_once() -> None:
    page = (ROOT / "docs" / "changelog.md").read_text(encoding="utf-8")
    once = CHANGELOG["site_page"](page)
    assert CHANGELOG["site_page"](once) == once
    assert once.count("../CHANGELOG.md") == 1
    assert "../changes/" not in once


def test_the_fragments_there_are_can_be_gathered() -> None:
    paths = [path for path in (ROOT / "changes").glob("*.md") if path.name != "README.md"]
    if not paths:  # just after a release
        return
    texts = {path.name: path.read_text(encoding="utf-8") for path in paths}
    made = CHANGELOG["gathered"](
        (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        CHANGELOG["section"](texts, version="9.9.9", date="2027-01-01"),
    )
    assert made.index("## Unreleased") < made.index("## 9.9.9")
    assert made.count("\n- ") >= len(paths)


def test_the_security_key_is_the_one_that_the_policy_names() -> None:
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.hazmat.primitives.hashes import SHA256

    key = x509.load_pem_x509_certificate((ROOT / "security.pem").read_bytes())
    fingerprint = ":".join(f"{byte:02X}" for byte in key.fingerprint(SHA256()))
    assert f"`{fingerprint}`" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert isinstance(key.public_key(), RSAPublicKey)
    assert key.public_key().key_size >= 3072
    assert key.not_valid_after_utc > datetime.datetime.now(datetime.UTC)
    assert "PRIVATE" not in (ROOT / "security.pem").read_text(encoding="ascii")


@pytest.mark.parametrize("name", ["bug.yml", "idea.yml", "config.yml"])
def test_issues_have_forms(name: str) -> None:
    assert (ROOT / ".github" / "ISSUE_TEMPLATE" / name).read_text(encoding="utf-8")


def test_workflows_try_every_system_python_and_resolution() -> None:
    text = WORKFLOWS["test"]
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    pythons = re.findall(r"Python :: (3\.\d+)", project)
    listed = ", ".join(f'"{one}"' for one in pythons)
    assert f"python: [{listed}]" in text
    assert "os: [ubuntu-latest, macos-latest, windows-latest]" in text
    assert "lowest-direct" in text
    assert "resolution: highest" in text
    assert "run: make docs" in text
    assert "cibuildwheel" in WORKFLOWS["wheels"]


def test_targets_that_workflows_and_pages_call_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):", makefile, flags=re.M))
    pages = [
        *WORKFLOWS.values(),
        *((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md")),
    ]
    called = {
        name for text in pages for name in re.findall(r"(?:^|`|run: )make ([a-z][\w-]*)", text, flags=re.M)
    }
    assert called <= targets, called - targets
    assert {"quick", "test", "coverage", "docs", "demo"} <= called


def recipe(target: str) -> str:
    """The lines of a target of the Makefile, with its name and what it needs."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.search(rf"^{target}: [^\n]*\n(?:\t[^\n]*\n)*", makefile, flags=re.M)
    assert found, target
    return found[0]


def test_the_rings() -> None:
    for ring in ("quick", "test", "deep"):
        assert all(step in recipe(ring) for step in ("lint", "layers", "types"))
    assert "fast" in recipe("quick")
    assert '-m "not slow and not deep"' in recipe("fast")
    assert "suite" in recipe("test")
    # But for what is deep, the suite chooses nothing; the deep runs choose nothing at all, with a floor of coverage.
    assert re.findall(r"-[mk] \S.*?\"", recipe("suite")) == ['-m "not deep"']
    deep = recipe("deep")
    assert not re.search(r"pytest|-m|-k|--ignore", deep)
    assert re.search(r"HOLDFAST_DEEP=1 \$\(SUITE\) .*--cov ", deep)
    assert "OPENBLAS_CORETYPE=Haswell $(SUITE)" in deep
    assert "refute" in deep
    assert re.search(
        r"^fail_under = (8[5-9]|9\d)", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), flags=re.M
    )

"""What tests may ask for: real components, and the benchmark data."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

if TYPE_CHECKING:
    from tests.servers.postgres import Server

hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, max_examples=60)
hypothesis.settings.load_profile("ci")

collect_ignore_glob = [
    "golden/*.py"
]  # scripts that made the golden numbers, with tools that are not installed here

ROOT = Path(__file__).resolve().parent.parent


def missing(component: str, reason: str) -> None:
    """Skip loudly; under HOLDFAST_REQUIRE=all (or a list that names the component) fail instead."""
    required = os.environ.get("HOLDFAST_REQUIRE", "").split(",")
    if "all" in required or component in required:
        pytest.fail(f"{component} is required (HOLDFAST_REQUIRE) and missing: {reason}")
    pytest.skip(f"{component} is missing: {reason}")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The benchmark datasets: HOLDFAST_DATA, else ../shared/data if it exists."""
    folder = Path(os.environ.get("HOLDFAST_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        missing("data", "set HOLDFAST_DATA to the folder with the benchmark datasets")
    return folder


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a real browser."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        missing("browser", "install Chromium (Debian: apt-get install chromium)")
    assert path is not None
    return path


@pytest.fixture(scope="session")
def postgres_server() -> Server:
    """A PostgreSQL server of this process, started at its first use; it ends with the process."""
    from tests.servers.postgres import required_server

    return required_server()

"""What tests may ask for: real components, and the benchmark data."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from tests import pace, rings, room_costs
from tests.studies import results
from tests.studies.size import Study

if TYPE_CHECKING:
    from tests.servers.postgres import Server

hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, max_examples=60)
# Of a planted fault nobody reads the smallest example: the first that fails is enough.
hypothesis.settings.register_profile(
    "planted",
    hypothesis.settings.get_profile("ci"),
    phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
    report_multiple_bugs=False,
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# Scripts that made the golden numbers, with tools that are not installed here.
collect_ignore_glob = ["golden/*.py"]

# As the Makefile does, for a run without it: before the first library with threads is loaded, and for all workers.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Spark Connect's gRPC would start threads of its own in every fork that a test makes, which then hang or end it.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

ROOT = Path(__file__).resolve().parent.parent
MANY_TESTS = 1_000


def pytest_addoption(parser: pytest.Parser) -> None:
    """What a run may be asked to measure."""
    pace.pytest_addoption(parser)
    room_costs.pytest_addoption(parser)


def pytest_configure(config: pytest.Config) -> None:
    """What is measured and kept, where the run asks for it."""
    room_costs.pytest_configure(config)
    pace.pytest_configure(config)
    results.pytest_configure(config)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks of what is slow and deep, before the choice by `-m`, which other hooks make after; servers first."""
    items.sort(key=pace.place_of)
    pace.mark_slow(items)
    rings.mark_deep(items)
    rings.draw_fewer_examples(items)
    for item in items:
        if "study" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.study)


def pytest_collection_finish(session: pytest.Session) -> None:
    """What is loaded by now stays to the end: no later search for garbage goes through it, where it is much."""
    if len(session.items) >= MANY_TESTS:
        gc.collect()
        gc.freeze()


def missing(component: str, reason: str) -> None:
    """Skip loudly; under HOLDFAST_REQUIRE=all (or a list that names the component) fail instead."""
    required = os.environ.get("HOLDFAST_REQUIRE", "").split(",")
    if "all" in required or component in required:
        pytest.fail(f"{component} is required (HOLDFAST_REQUIRE) and missing: {reason}")
    pytest.skip(f"{component} is missing: {reason}")


@pytest.fixture
def study(record_property: Callable[[str, object], None]) -> Study:
    """Notes of a test whose number of trials is a tenth unless HOLDFAST_DEEP=1."""
    return Study(record_property)


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

"""Every planted fault is killed by the tests of `make test`: a copy of the tree for each process of the run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.mutants.copies import Copy
from tests.mutants.fault import Fault
from tests.mutants.faults import FAULTS
from tests.mutants.planting import plant
from tests.room_costs import SPENT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """A copy of sources and tests."""
    return Copy.made(tmp_path_factory.mktemp("mutants") / "tree")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_killed(
    fault: Fault, copy: Copy, record_property: Callable[[str, object], None]
) -> None:
    outcome = copy.tried(plant(fault, copy.sources), fault.tests)
    record_property(SPENT, outcome.seconds)
    assert outcome.killed, f"pytest ended with {outcome.code}:\n{outcome.said}"

"""Over the stored panels, no result that beats a constant would have been refused as useless; every cell is asked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from studies.benchmarks.useless import PAGE, Judged, judged, page

pytestmark = pytest.mark.deep  # of the studies, over all that they stored


@pytest.fixture(scope="module")
def every_cell() -> list[Judged]:
    return list(judged())


def test_no_result_that_beats_a_constant_is_refused(every_cell: list[Judged]) -> None:
    better = [one for one in every_cell if one.beats]
    assert len(better) > 6_000
    assert not [one.cell for one in better if one.refused]


def test_a_rule_that_refuses_ten_times_as_much_is_seen(every_cell: list[Judged]) -> None:
    """The test above can fail: public numbers of useful results are within a factor of ten of what is refused."""

    def stricter(one: Judged) -> Judged:
        return replace(one, prospects=tuple(replace(said, hidden=10 * said.hidden) for said in one.prospects))

    assert [one.cell for one in every_cell if one.beats and stricter(one).refused]


def test_the_page_is_that_of_the_stored_results(every_cell: list[Judged]) -> None:
    assert page(every_cell) == PAGE.read_text(encoding="utf-8")

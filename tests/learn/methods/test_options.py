"""What a refusal of an option says; that each is refused, is a matter of `tests/contracts/test_learn_methods.py`."""

from __future__ import annotations

import pytest

from holdfast.errors import ParameterError
from holdfast.learn._catalogue import LEARNERS
from holdfast.testing._learners import learner_account, learner_rows, problem_of


def test_what_is_far_from_every_name_gets_no_hint() -> None:
    method = next(method for method in LEARNERS if method.name == "bst14")
    adjacency = method.adjacencies[0]
    account, problem = learner_account(method, adjacency), problem_of(method)
    with pytest.raises(ParameterError) as caught:
        method.fit(learner_rows(adjacency), problem, account=account, zzz=1)
    assert account.journal.entries == (), "refused after spending"
    assert (
        str(caught.value) == "options must be among passes, batch, arithmetic for method='bst14', got 'zzz'"
    )

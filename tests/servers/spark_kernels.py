"""What tests run on executors; apart from the tests, so that a worker need not import those."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdfast.data._batch import Batch


def numbers(batches: Iterator[Batch]) -> list[float]:
    """The column x, in the order in which it comes."""
    return [x for batch in batches for x in batch.column("x").tolist()]


def tells(batches: Iterator[Batch]) -> None:
    """A kernel whose error quotes the data."""
    raise ValueError(f"a value of the data: {numbers(batches)[0]}")


class FailsOnce:
    """A kernel, or a statistic, whose first attempt in every task leaves a marker and dies."""

    def __init__(self, inner: Any, folder: Path) -> None:
        self.inner, self.folder = inner, str(folder)
        self.columns, self.shape = getattr(inner, "columns", ()), getattr(inner, "shape", ())

    def __call__(self, rows: Any) -> Any:
        """The second attempt's result."""
        from pyspark import TaskContext

        task = TaskContext.get()
        assert task is not None
        if task.attemptNumber() == 0:
            (Path(self.folder) / f"stage{task.stageId()}-partition{task.partitionId()}").touch()
            raise RuntimeError("this task fails on purpose")
        return self.inner(rows)

"""Jobs: pieces of work that are paid for once, whatever goes wrong."""

from __future__ import annotations

from holdfast.ledger._jobs.job import Job, PaidOnce, finish_written_work, job_key, kept_result, once, waiting
from holdfast.ledger._jobs.turns import Latest, paid_for
from holdfast.ledger._jobs.unpaid_work import unpaid

__all__ = [
    "Job",
    "Latest",
    "PaidOnce",
    "finish_written_work",
    "job_key",
    "kept_result",
    "once",
    "paid_for",
    "unpaid",
    "waiting",
]

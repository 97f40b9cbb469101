"""Jobs: pieces of work that are paid for once, whatever goes wrong."""

from __future__ import annotations

from holdfast.ledger._jobs.job import Job, PaidOnce, job_key, kept, once, settled, waiting
from holdfast.ledger._jobs.turns import Latest, paid_for

__all__ = ["Job", "Latest", "PaidOnce", "job_key", "kept", "once", "paid_for", "settled", "waiting"]

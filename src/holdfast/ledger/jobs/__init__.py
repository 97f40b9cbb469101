"""Jobs: pieces of work that are paid for once, whatever goes wrong."""

from __future__ import annotations

from holdfast.ledger.jobs.job import Outcome, job_key, kept, once, settled
from holdfast.ledger.jobs.turns import Latest, paid_for

__all__ = ["Latest", "Outcome", "job_key", "kept", "once", "paid_for", "settled"]

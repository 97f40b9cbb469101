"""Release plans: what `holdfast run` executes. Each step calls the library function that its command calls.

Contents
--------
`ReleasePlan.load` reads a plan from a TOML file, `ReleasePlan.quote` says what it costs, `ReleasePlan.run` does
what is not done yet.

Public and private
------------------
A plan and its quote are public: they follow from the file and from what the ledger holds. What its steps write
is public as far as they are releases and pages for the public; pages and findings for the data's owner say so.
"""

from __future__ import annotations

from holdfast.plan._release_plan import Quote, ReleasePlan

__all__ = ["Quote", "ReleasePlan"]

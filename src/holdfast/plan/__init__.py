"""Release plans: what `holdfast run` executes. Each step calls the library function that its command calls."""

from __future__ import annotations

from holdfast.plan._release_plan import Quote, ReleasePlan

__all__ = ["Quote", "ReleasePlan"]

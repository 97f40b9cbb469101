"""Steps of a pipeline before a private estimator: scaling, principal components, a public projection."""

from __future__ import annotations

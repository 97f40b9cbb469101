"""Safe sampling: exact integer noise, exact choice, and idealised noise for inner loops.

Every function takes a `Source` first: there is no hidden generator. Exact samplers have exactly the
law they name; those of `continuous` and `ball` are idealised real arithmetic and not for releases.
Import from the file that carries the name: `holdfast.noise.discrete_gaussian.discrete_gaussian`.
"""

from __future__ import annotations

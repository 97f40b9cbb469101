"""Safe sampling: exact integer noise, exact choice, and idealised noise for inner loops.

Every function takes a `Source` first: there is no hidden generator. Exact samplers have exactly the
law they name. Those of `holdfast.noise._idealised` compute in floating point and are not for releases.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

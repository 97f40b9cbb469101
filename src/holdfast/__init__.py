"""holdfast: publish a model or a synthetic table with a promise people can check.

The most used names are here, all others in the rooms below. Everything is loaded when it is first used.

>>> import holdfast
>>> holdfast.counts_l2("replace")
1.4142135623730951
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

__version__ = "0.1.0"

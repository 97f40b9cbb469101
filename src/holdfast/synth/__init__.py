"""Private synthetic tables: declared queries in, rows, noisy tables and a certificate out.

`Synthesizer` is the door. A method (`methods`) turns exact counts into a model (`models`) for a workload (`workload`);
rows are drawn from the model (`rows`), and what can be said of their errors is `certificate`.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

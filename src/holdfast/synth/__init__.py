"""Private synthetic tables: declared queries in, rows, noisy tables and a certificate out.

Functions are imported from the file that carries their name: `holdfast.synth.evaluate.evaluate`,
`holdfast.synth.reference_lines.reference_lines`, `holdfast.synth.certify.certify`.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Public file layouts, written from their documentation: seeded rows, and the truth about each column."""

from __future__ import annotations

from tests.layouts.held_out import HELD_OUT
from tests.layouts.layout import Layout, Truth
from tests.layouts.others import OTHERS
from tests.layouts.surveys import SURVEYS

__all__ = ["HELD_OUT", "LAYOUTS", "Layout", "Truth"]
LAYOUTS = {make.__name__: make for make in (*SURVEYS, *OTHERS)}

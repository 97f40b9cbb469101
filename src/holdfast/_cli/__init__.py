"""The command line: one verb, one library call."""

from __future__ import annotations

"""The demo: a private model and a synthetic table of bundled data, with attacks, an audit and two pages about them."""

from __future__ import annotations

from holdfast._demo.tour import Demo, run_broken_demo, run_demo

__all__ = ["Demo", "run_broken_demo", "run_demo"]

"""Releases: a value with its promise and its history, and the file format that keeps all three."""

from __future__ import annotations

from holdfast.release._release import Provenance, Release

__all__ = ["Provenance", "Release"]

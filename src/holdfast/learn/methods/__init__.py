"""METHODS: every private learner, one file each."""

from __future__ import annotations

from holdfast.learn.method import Method

METHODS: tuple[Method, ...] = ()

"""Refutation: every mechanism and method against its own claim, by trials that can fail."""

from ._suite import refute as refute

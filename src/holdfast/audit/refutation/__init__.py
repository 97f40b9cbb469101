"""Refutation: every mechanism and method against its own claim."""

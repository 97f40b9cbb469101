"""Refutation: every mechanism and method against its own claim, by trials that can fail."""

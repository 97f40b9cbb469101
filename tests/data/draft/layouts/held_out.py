"""Layouts written after the rules, before which nothing was changed for them."""

HELD_OUT = {}

"""Choosing among candidates, and paying for the choice."""

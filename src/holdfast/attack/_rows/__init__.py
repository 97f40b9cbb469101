"""Attacks on released rows: the rows as an attacker sees them, cases, distances, and results of disclosure."""

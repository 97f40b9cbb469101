"""Dominating pairs of the mechanisms that have one in closed form, one file each."""

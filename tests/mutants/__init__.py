"""Planted faults. `make mutants` plants each one, runs the tests that should notice, and counts.

A fault is a file, a text that occurs in it once, what it becomes, and the tests that must fail.
"""

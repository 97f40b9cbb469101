"""Planted faults. `make mutants` plants each one, runs the tests that should notice, and counts.

A fault is a room and a name defined in it, a text that occurs there once, what it becomes, and the tests that
must fail. `python -m tests.mutants --plant-only` sees in a second that all can be planted.
"""

"""Mutation at scale: faults drawn at random in all paying code, and the tests that notice them.

`python -m tests.mutation --help`; docs/decisions/mutation.md says what is drawn, and what counts as killed.
"""

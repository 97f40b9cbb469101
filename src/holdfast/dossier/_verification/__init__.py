"""Verification: a page, its releases and its ledger held against each other, and against the keys of who signed."""

"""Findings of the review as tests that state the right behaviour: expected failures until each is closed."""

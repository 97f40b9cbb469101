"""The questions: one file for each, with what it estimates, what it needs measured, and its interval."""

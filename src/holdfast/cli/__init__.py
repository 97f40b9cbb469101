"""The command line: one verb, one library call."""

"""Lower bounds on the privacy loss from the counts of an audit: one file for each design, each with its theorem."""

"""Lower bounds on the leak from what an audit saw, one file for each design, each with its theorem."""

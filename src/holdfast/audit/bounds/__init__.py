"""Lower bounds on the leak from what an audit saw, each with its theorem."""

"""Studies: tests whose number of trials can be chosen, and the results of their full size."""

"""How much one column moves what a model shows, and what that lets others guess. Differential privacy does not limit it."""

"""What is measured: each kind of noisy release, with its sensitivity and what it asks of the engine."""

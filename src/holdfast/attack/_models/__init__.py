"""Attacks on models: targets and their answers, layers, shadow models, cases, and thresholds for scores."""

"""Models as an attacker meets them: targets and their answers, layers, shadow models, thresholds for scores."""

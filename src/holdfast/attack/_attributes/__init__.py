"""Attacks on one attribute of people: what the attacker has, whose value is guessed, and how guesses are scored."""

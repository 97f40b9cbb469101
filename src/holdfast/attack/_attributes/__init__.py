"""Guesses of one attribute of people: what the attacker has, who is judged, and what the guesses come to."""

"""Released rows as an attacker meets them, the cases of attacks on them, and what disclosure comes to."""

"""Keys: what is signed, and whose signatures count."""

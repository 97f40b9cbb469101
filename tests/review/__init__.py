"""What a review broke, as tests of what must hold."""

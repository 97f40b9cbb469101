"""The public challenge: twenty releases and pages, half of them forged or broken, and who tells them apart."""

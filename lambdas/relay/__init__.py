"""The relay: what follows from a state change."""

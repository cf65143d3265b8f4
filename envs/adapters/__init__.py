"""Environments that are somebody else's package, each in a virtual environment and a process of its own."""

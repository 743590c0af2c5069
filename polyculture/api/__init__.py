"""Polyculture from Python: a run's tables as frames, and runs that are started here. See docs/python.md."""

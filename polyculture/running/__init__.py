"""A run: its pipeline, its jobs, its budget and how far it is."""

"""A run: its pipeline, jobs, budget and status."""

"""A run as one portable thing: its tables without the run's folder, with a data card and metadata."""

"""The same jobs on many machines: Ray places them, the run's folder is shared, the shards are the same."""

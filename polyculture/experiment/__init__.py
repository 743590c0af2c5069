"""The experiment: its file, its workspace, and what changed since its last run."""

"""Claims: stated hypotheses about a run, each with its test."""

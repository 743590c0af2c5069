"""Intervals of judged samples and of instruments; those of texts are `metrics.inference`."""

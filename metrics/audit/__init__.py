"""Human judgements of a sample: the accuracy of extraction and linking, and metrics corrected by it."""

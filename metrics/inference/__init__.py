"""One inference for all measures: what is sampled, how far a number or a difference may lie from the truth, and q."""

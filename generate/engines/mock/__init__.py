"""An engine that only plays a model, for tests and dry runs."""

"""An instrument for tests: how long a model's answers about words are."""

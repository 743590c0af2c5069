"""The bias of a corpus: an n-gram model from only the counts that contexts and entities need.

- `tokens`: text to tokens, a million characters at a time
- `model`: contexts and entities to the n-grams that they rest on; counts of these to log-probabilities
- `count`: those n-grams, counted in one pass over the corpus
- `step`: log-probabilities into the store, beside those of the models
"""

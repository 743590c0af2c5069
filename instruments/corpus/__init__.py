"""The bias of a corpus: an n-gram model of it, made of just the counts that contexts and entities need.

- `tokens`: text to tokens, a million characters at a time
- `gaps`: contexts and entities to the n-grams that their likelihoods rest on
- `count`: those n-grams, counted in one pass over the corpus; `distinct` is where words are told apart
- `model`: counts to log-probabilities, as they stand and smoothed
- `stage`: log-probabilities into the store, beside those of the models
"""

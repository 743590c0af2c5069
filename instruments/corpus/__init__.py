"""The bias of a corpus: an n-gram model from only the counts that contexts and entities need.

- `tokens`: text to tokens, a million characters at a time
- `gaps`: contexts and entities to the n-grams that their likelihoods rest on
- `count`: those n-grams, counted in one pass over the corpus; `distinct` counts different words
- `model`: counts to log-probabilities, unsmoothed and smoothed
- `step`: log-probabilities into the store, beside those of the models
- `outcomes`: how often either of a pair is the more probable, and ties
"""

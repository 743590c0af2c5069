"""What a model finds probable: masked contexts, the entities that compete for their gap, and the Cultural Bias Score.

- `stage`: contexts and entities to log-probabilities in the store
- `bias`, `uncertainty`, `protocol`: log-probabilities to the Cultural Bias Score and its interval
- `section`: what the report shows of it
"""

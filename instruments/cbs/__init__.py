"""The instrument CBS: masked contexts, the entities that compete for their gap, and the Cultural Bias Score.

- `step`: contexts and entities to log-probabilities in the store
- `bias`, `uncertainty`, `averages`: log-probabilities to the Cultural Bias Score and its interval
- `measure`: the scores by our protocol, into `numbers`; `protocol`: those by a paper's, when they are asked
- `section`: its section of the report
"""

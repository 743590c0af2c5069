"""Questions with choices: what all instruments that ask them share, whatever a choice means.

- `answer_text`: what a model said, without what stands around it
- `asking`: a question to a model, the job that it belongs to, and what came of asking
- `step`, `generation_step`, `likelihood_step`: asking; `reading_step`: reading stored answers again
- `present`: the questions of a run as they are now
- `needs`: what ways of asking take of a model
- `likelihoods`: the likeliest choice; `uncertainty`: intervals of shares
"""

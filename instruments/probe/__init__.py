"""What a model's layers hold of cultures, read by putting their states into a text that the model continues.

- `questions`, `asking`: the questions of sets as they are probed, and what decides their answers
- `arms`: controls, and what they put in the placeholder's place
- `step`: questions to answers, states, continuations and items in the store
- `words`, `splitting`: content words of answers, items of continuations, by documented rules
- `encoder`, `measure`: the similarities that filter items; scores with intervals
- `flattening`, `halves`: the cultural flattening score, with intervals from halves of the questions and a test
- `section`: the report section
"""

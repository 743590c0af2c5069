"""What a model's layers hold of cultures, read by putting their states into a text that the model continues.

- `questions`, `asking`: open questions, and what decides their answers
- `arms`, `lenders`: controls, and what they put in the placeholder's place
- `step`: questions to answers, states, continuations and items in the store
- `words`, `splitting`: content words of answers, items of continuations, by documented rules
- `encoder`, `measure`: the similarities that filter items; scores with intervals
- `flattening`: the cultural flattening score, with intervals and a test
- `controls`, `halves`: the scores of arms beside the probe's, with intervals from halves of the questions
- `attention`: how much a model attends to each option of a question
- `section`: the report section
"""

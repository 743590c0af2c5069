"""What becomes of a task when the entity in a text is swapped for one of another culture.

- `prompts/`: what a language model is asked, a file per language
- `sentiment`, `qa`, `ner`: the tasks: what is asked of a text, and whether the answer is right
- `selection`, `stage`: contexts and entities to answers in the store
- `ratio`, `measure`: answers to rates per culture, their difference and its interval
- `section`: what the report shows of it
"""

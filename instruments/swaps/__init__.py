"""Entity swaps: the effect on a task of replacing the entity in a text by one of another culture.

- `prompts/`: prompts for language models, one file per language
- `tasks`: the question about a text, and the scoring of its answer
- `selection`, `asking`, `step`: contexts and entities to answers in the store, and to what these say
- `rates`, `measure`: answers to rates per culture, their difference and its interval
- `section`: the report section
"""

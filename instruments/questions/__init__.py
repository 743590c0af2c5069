"""Question sets: questions with options, sentence pairs, gaps with candidates, and open questions.

- `model`: a question, a prompt, a set as it was read
- `rules`: sets as rules files: which columns of which files become questions (`sets/*.toml` are shipped)
- `loaders`: rows and sets that code of ours makes
- `asking`, `asking_step`: questions to models, answers in the store
- `reading_step`: what readers make of stored answers; `study`, `instrument`: `polyculture ask`
- `reading`: which option an answer picks
- `numbers`: shares and differences of shares over facets, in `numbers` and `differences`
"""

"""Question sets as rules files: which columns of which files become questions.

- `model`: a rules file, checked by pydantic; what it says of files, rows and fields is read by `sources`
- `options`: which option a value names, and whom a stereotype is about (`groups`)
- `questions`: rows as questions; `prompts`: the prompts of their languages
- `opened`: a set from a folder, by name or rules file; `check`: what it makes of files, beside what papers count
"""

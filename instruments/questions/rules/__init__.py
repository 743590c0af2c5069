"""Question sets as rules files: which columns of which files become questions.

- `model`: a rules file, checked by pydantic
- `files`: the files of a block, and their rows
- `values`: columns, paths and templates on a row
- `options`: which option a value names, and whom a stereotype is about (`groups`)
- `questions`: rows as questions; `prompts`: the prompts of their languages
- `opened`: a set from a folder, by name or rules file; `check`: what it makes of files, beside what papers count
"""

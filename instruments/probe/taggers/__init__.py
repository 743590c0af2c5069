"""Part-of-speech taggers: which words of an answer are nouns, verbs and proper nouns, and where they stand.

- `taggers.toml`: for each package its languages, distributions, and what its tags mean
- `known`: which tagger a language gets, and what is recorded of it; `reading`: a text to content words
- `packages`: those that come with their models; `spacy_model`: spaCy, with a model that the user installs
"""

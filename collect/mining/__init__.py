"""Entity lists from web-scale text: the n-grams in the slot of a pattern ("recipe of ___").

The lists of CAMeL (Naous et al. 2024, arXiv:2305.14456) and Camellia began like this: patterns propose, counts rank,
annotators decide. Folding and word boundaries are those of `extract`.
"""

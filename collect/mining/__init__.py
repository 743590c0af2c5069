"""Entity lists from web-scale text: the n-grams that stand where a pattern has its slot ("recipe of ___").

This is how the lists of CAMeL (Naous et al. 2024, arXiv:2305.14456) and Camellia were begun: patterns propose, counts
rank, people judge. It stands in this room because it finds names in text, with the same folding and boundaries.
"""

"""Polyculture: what does a language model know and say about the world's cultures, in every language?"""

__version__ = "0.1.0"

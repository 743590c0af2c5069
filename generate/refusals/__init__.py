"""Refusals in the text of a model, in the catalogue's 13 languages; used by all instruments.

    is_refusal("I'm sorry, but I can't help with that.", "en")               # True
    find_refusal("Es tut mir leid, das kann ich nicht tun.", "de")           # the phrase that matched

A refusal declines the task and does nothing else. It states inability or unwillingness, or gives a disclaimer ("as an
AI, I have no favourite dish"). No refusals are:

- a partial refusal that goes on to answer ("As an AI I have no favourite, but the national dish is pho");
- words of refusal in a character's mouth, in quotation marks or reported ("..., said the waiter");
- answers that name no one ("None", "I don't know", "Cannot be determined", "[]"), empty texts, and requests for a
  missing input ("Please provide the text").

The rules are in `detector`, the phrases of each language in `<code>.toml` beside this file, examples with labels in
`gold/`. English phrases count in every language, since models often refuse in English. A language file of a user's own
brings its phrases in a table `[refusals]`; where a language has none, nobody knows (`None`). A provider's own flag
(`finish_reason`) is a separate signal: this module reads text alone.
"""

from polyculture.generate.refusals.detector import (
    RefusalDetector,
    find_refusal,
    is_refusal,
    refusal_detector,
    refusal_rules_id,
)
from polyculture.generate.refusals.phrases import own_phrases

__all__ = [
    "RefusalDetector",
    "find_refusal",
    "is_refusal",
    "own_phrases",
    "refusal_detector",
    "refusal_rules_id",
]

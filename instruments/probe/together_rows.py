"""What items mean in Wikidata."""

from __future__ import annotations

from dataclasses import dataclass

from polyculture.cache.layout import Table


@dataclass(frozen=True, slots=True)
class ItemLink:
    """The Wikidata item that an item of layers means, or the reason why there is none."""

    language: str  # that the questions are asked in
    question_topic: str  # of the questions, as their table has it
    item_key: str
    item: str  # as models write it most often; what was looked up
    topic: str  # as which it was linked: of several, the first under which it is found, else the first
    kind: str
    status: str  # 'linked' | 'ambiguous' | 'no candidate' | 'no path'
    qid: str | None  # set when linked or ambiguous
    match: str | None  # how alike the item's name is: 'exact' | 'normalised' | 'key'


PROBE_LINKS = Table("probe_links", ItemLink)

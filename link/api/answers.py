"""Parses and checks the Action API's answers: an unexpected answer is a fault, never "nothing found".

All functions raise `KeyError`, `TypeError`, `ValueError` or `AttributeError` for an answer that does not fit the
request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from polyculture.link.entity import PROPERTIES, number
from polyculture.link.entity_json import Rows

ApiAnswer = Mapping[str, Any]
Entity = dict[str, Any]

_KEPT = ("type", "id", "labels", "descriptions", "aliases", "lastrevid", "modified", "redirects")
_INVALID_ID = re.compile(r"\(Invalid id: ([^)]*)\)")


class SearchHit(NamedTuple):
    """An item that a search found, and the matching name."""

    qid: str
    text: str


def read_hits(answer: ApiAnswer) -> tuple[list[SearchHit], int | None]:
    """The hits of one page of `wbsearchentities`, and the offset of the next page, if any."""
    hits = [
        SearchHit(f"Q{number(hit['id'])}", str((hit.get("match") or {}).get("text", ""))) for hit in answer["search"]
    ]
    following = answer.get("search-continue")
    return hits, None if following is None else int(following)


def read_entities(asked: Sequence[str], languages: Iterable[str], answer: ApiAnswer) -> dict[str, Entity | None]:
    """The entities of `wbgetentities` by requested id; None for a missing one.

    Where the service rejects the batch for one invalid id, only that id, as missing.
    """
    if "error" in answer:
        return {_invalid_id(answer["error"], asked): None}
    given: dict[str, Entity] = {}
    for qid, entity in answer["entities"].items():
        given.setdefault(str((entity.get("redirects") or {}).get("from", qid)), entity)
        given[qid] = entity
    wanted = list(languages)
    return {qid: _item(given[qid], wanted) for qid in asked}


def _invalid_id(error: Mapping[str, Any], asked: Sequence[str]) -> str:
    """The id that the service rejects: in the field `id`, or in the message."""
    said = _INVALID_ID.search(str(error.get("info", "")))
    named = [error.get("id"), said[1] if said else None, *(asked if len(asked) == 1 else ())]
    invalid = [qid for qid in named if qid in asked]
    if not invalid:
        raise ValueError(f"none of the requested ids is in {error}")
    return str(invalid[0])


def _item(entity: Entity, languages: Sequence[str]) -> Entity | None:
    """The item; None where `missing` is set: an empty string in the old format, true in the new one."""
    if "missing" in entity:
        return None
    item = _trimmed(entity)
    Rows(languages).add(item)  # raises for items that no snapshot can hold
    return item


def _trimmed(entity: Entity) -> Entity:
    """The parts of an entity that linking needs, in the form of a dump.

    A property without statements has an empty list: it was requested, and has none.
    """
    kept: Entity = {key: entity[key] for key in _KEPT if key in entity}
    claims = entity.get("claims") or {}
    statements = {code: [_bare(claim) for claim in claims.get(code, ())] for code in PROPERTIES}
    return {**kept, "claims": statements, "sitelinks": {site: {} for site in entity.get("sitelinks") or {}}}


def _bare(claim: Entity) -> Entity:
    snak = {key: value for key, value in claim["mainsnak"].items() if key in ("snaktype", "property", "datavalue")}
    ends = (claim.get("qualifiers") or {}).get("P582")
    ended = {"qualifiers": {"P582": ends}} if ends else {}
    return {"mainsnak": snak, "type": "statement", "rank": claim.get("rank", "normal"), **ended}

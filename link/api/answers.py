"""What the Action API's answers say, checked: an answer to another question is a fault, never "nothing found".

All functions raise `KeyError`, `TypeError`, `ValueError` or `AttributeError` for what is no answer to the question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from polyculture.link.entity_json import PROPERTIES, Rows, number

Answer = Mapping[str, Any]
Entity = dict[str, Any]

_KEPT = ("type", "id", "labels", "descriptions", "aliases", "lastrevid", "modified", "redirects")
_INVALID_ID = re.compile(r"\(Invalid id: ([^)]*)\)")


class Hit(NamedTuple):
    """An item that a search found, and the name by which."""

    qid: str
    text: str


def read_hits(answer: Answer) -> tuple[list[Hit], int | None]:
    """The hits of one page of `wbsearchentities`, and where the next page begins."""
    hits = [Hit(f"Q{number(hit['id'])}", str((hit.get("match") or {}).get("text", ""))) for hit in answer["search"]]
    following = answer.get("search-continue")
    return hits, None if following is None else int(following)


def read_entities(asked: Sequence[str], languages: Iterable[str], answer: Answer) -> dict[str, Entity | None]:
    """What `wbgetentities` says of the ids asked for; None for a missing one.

    Where one impossible id spoils the whole batch, that one alone, as missing.
    """
    if "error" in answer:
        return {_spoilt_by(answer["error"], asked): None}
    given: dict[str, Entity] = {}
    for qid, entity in answer["entities"].items():
        given.setdefault(str((entity.get("redirects") or {}).get("from", qid)), entity)
        given[qid] = entity
    wanted = list(languages)
    return {qid: _item(given[qid], wanted) for qid in asked}


def is_complete(entity: Entity) -> bool:
    """Does an entity kept before hold all statements that are needed now?"""
    claims = entity.get("claims")
    return isinstance(claims, dict) and claims.keys() >= set(PROPERTIES)


def _spoilt_by(error: Mapping[str, Any], asked: Sequence[str]) -> str:
    """The id that the service cannot read: said in `id`, or else in words."""
    said = _INVALID_ID.search(str(error.get("info", "")))
    named = [error.get("id"), said[1] if said else None, *(asked if len(asked) == 1 else ())]
    spoilt = [qid for qid in named if qid in asked]
    if not spoilt:
        raise ValueError(f"none of the ids asked for is in {error}")
    return str(spoilt[0])


def _item(entity: Entity, languages: Sequence[str]) -> Entity | None:
    """The item; None where it is missing: an empty string in the answer's old format, true in the new one."""
    if "missing" in entity:
        return None
    item = _trimmed(entity)
    Rows(languages).add(item)  # raises for what no snapshot could hold
    return item


def _trimmed(entity: Entity) -> Entity:
    """What linking needs of an entity, still in the form of a dump.

    A property without statements has an empty list, which says that it was looked for.
    """
    kept: Entity = {key: entity[key] for key in _KEPT if key in entity}
    claims = entity.get("claims") or {}
    statements = {code: [_bare(claim) for claim in claims.get(code, ())] for code in PROPERTIES}
    return {**kept, "claims": statements, "sitelinks": {site: {} for site in entity.get("sitelinks") or {}}}


def _bare(claim: Entity) -> Entity:
    snak = {key: value for key, value in claim["mainsnak"].items() if key in ("snaktype", "property", "datavalue")}
    return {"mainsnak": snak, "type": "statement", "rank": claim.get("rank", "normal")}

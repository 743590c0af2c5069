"""Context prefixes: texts before a context that hint at its culture.

- token: the culture's name, in the language of the context (`context_prompts.toml`)
- demonstrations: the same context, filled in with native entities. They are drawn anew for each context, several times
  without repetition, and an entity is scored behind the first draw that does not name it: never behind itself.
- names: the same draws of native entities, as bare names

They follow the adaptations of Naous et al. (2024, section 5), whose demonstrations (Figure 6) are names.
`context_prompts.toml` holds the exact texts.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from polyculture.cache.errors import DataSetError
from polyculture.cache.identity import content_id
from polyculture.instruments.datasets.model import MASK, CulturalEntity, DataSet, MaskedContext

DRAWS = 4  # at most, of a context
ContextEntities = tuple[MaskedContext, list[CulturalEntity]]


class PrefixKind(StrEnum):
    """The kinds of prefix."""

    TOKEN = "token"  # noqa: S105, a word before a text
    DEMONSTRATIONS = "demonstrations"
    NAMES = "names"


@dataclass(frozen=True, slots=True)
class PrefixOptions:
    """The prefixes that are scored beside the plain contexts, and the number of demonstrations."""

    kinds: tuple[PrefixKind, ...] = ()
    demonstrations: int = 5


def with_prefixes(
    dataset: DataSet, context: MaskedContext, entities: Sequence[CulturalEntity], prefixes: PrefixOptions
) -> list[ContextEntities]:
    """The context with each kind of prefix, and the entities that are scored in it.

    Raises `DataSetError` where a culture has too few entities to draw demonstrations from.
    """
    asked: list[ContextEntities] = []
    if PrefixKind.TOKEN in prefixes.kinds:
        asked.append((_with(context, PrefixKind.TOKEN, _token(context) + context.text), list(entities)))
    for kind, shown in ((PrefixKind.DEMONSTRATIONS, _contexts), (PrefixKind.NAMES, _names)):
        if kind in prefixes.kinds:
            asked += _demonstrated(dataset, context, entities, f"{prefixes.demonstrations} {kind}", shown)
    return asked


def _demonstrated(
    dataset: DataSet,
    context: MaskedContext,
    entities: Sequence[CulturalEntity],
    named: str,
    shown: Callable[[MaskedContext, Sequence[CulturalEntity]], str],
) -> list[ContextEntities]:
    """The context behind draws of native entities, as `shown` puts them; `named` begins with their number."""
    number = int(named.partition(" ")[0])
    draws = _draws(dataset, context, number)
    groups: list[list[CulturalEntity]] = [[] for _ in draws]
    for entity in entities:
        groups[_behind(entity, draws)].append(entity)
    texts = [shown(context, draw) + context.text for draw in draws]
    return [(_with(context, named, text), group) for text, group in zip(texts, groups, strict=True) if group]


def _draws(dataset: DataSet, context: MaskedContext, number: int) -> list[list[CulturalEntity]]:
    """Disjoint draws of native entities, other ones for each context; by ids, so the same on every machine."""
    # Each name once: one that is repeated, as some are in published files, could stand in all draws.
    native = list({one.surface: one for one in dataset.fitting(context) if one.culture == context.culture}.values())
    if len(native) < 2 * number:
        raise DataSetError(
            f"{len(native)} {context.culture} entities of type {context.entity_type!r} in {context.language!r} are too "
            f"few to draw {number} demonstrations twice",
            where=dataset.folder / str(context.place),
            remedy="Ask for fewer: demonstrations = 3 under [cbs] in the experiment file.",
        )
    native.sort(key=lambda entity: content_id(context.context_id, entity.entity_id))
    starts = range(0, min(len(native) - number + 1, DRAWS * number), number)
    return [native[start : start + number] for start in starts]


def _behind(entity: CulturalEntity, draws: Sequence[Sequence[CulturalEntity]]) -> int:
    """The draw that an entity is scored behind: one without it, and preferably without its name."""
    lacking = [place for place, draw in enumerate(draws) if entity.surface not in [one.surface for one in draw]]
    return min(lacking, key=lambda place: sum(entity.surface in one.surface for one in draws[place]))


def _with(context: MaskedContext, named: str, text: str) -> MaskedContext:
    return replace(context, text=text, context_prefix=str(named), base_context_id=context.context_id)


def _token(context: MaskedContext) -> str:
    """The token prefix; a culture without a name in `context_prompts.toml` has that of its data set."""
    told = _wordings()["token"]
    name = told["names"].get(context.language, {}).get(context.culture, context.culture)
    text: str = told["template"]
    return text.replace("{culture}", name)


def _contexts(context: MaskedContext, draw: Sequence[CulturalEntity]) -> str:
    template: str = _wordings()["demonstrations"]["template"]
    return "".join(template.replace("{context}", context.text.replace(MASK, entity.surface)) for entity in draw)


def _names(context: MaskedContext, draw: Sequence[CulturalEntity]) -> str:
    told = _wordings()["names"]
    separator: str = told["separators"].get(context.language, told["separator"])
    template: str = told["template"]
    return template.replace("{names}", separator.join(entity.surface for entity in draw))


@cache
def _wordings() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("context_prompts.toml").read_text(encoding="utf-8"))

"""The identity of a study: everything that decides the numbers of a run's texts, apart from which models were asked.

Runs of equal identity may be compared as if they were one: other models, asked later and elsewhere with the same
experiment file. Names and places of files, addresses of servers, prices and the languages that single models are left
out of (`languages_of`) are therefore no part of it, and neither are the options of the models under study, such as
their quantization: these say which model was asked. What other instruments asked is no part of it either.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from polyculture.cache.identity import content_id
from polyculture.cache.store.manifest import EXTRACT_KEYS, TEXTS, Manifest

Parts = Mapping[str, str]
Items = Mapping[str, Parts]
# Of the prompts of a run that was written before studies had an identity, and of texts or answers whose file has none.
NOT_RECORDED = "not recorded"
NOT_SAID = "not said by imported files"  # of how answers to a question set were sampled
_NONE, _MISSING = "none", "not set"
_OF_TEXTS = ("study", 1)  # raise the number when what is hashed, or how, changes
_SHORT = 60  # characters of a value that is shown
_OF_CONTENT = ("with another text:", "with another list of options:", "with another key:")
_FACETS = "with another facet:"  # which are tables
_NAMED = 3  # items that are named
_LISTS = ("languages", "topics", "countries", "conditions")
_PROMPTS, _EXTRACTOR, _OF, _READER = "prompts in ", "extractor", "extractor of ", "reader of its answers"
OF_VALUE = (_PROMPTS, _OF)  # parts of a language or a topic: compared where both runs have it
_DESIGN = (*_LISTS, "wordings", "names", "seed of names")
# Parts that follow from others, with those: where one of these differs, it is named in place of the part.
_FOLLOWS = {
    _PROMPTS: _DESIGN,
    f"{_EXTRACTOR}'s ": (_EXTRACTOR,),
    _OF: (_EXTRACTOR,),
    _READER: (_EXTRACTOR,),
    "linker": ("languages", "topics", "snapshot", "links"),
}
_ADDRESS = "base_url"  # of a server in a setup: the same model may be served anywhere


@dataclass(frozen=True, slots=True)
class RunStudy:
    """What decides the numbers of a run. Runs whose studies have one `id` can be compared as if they were one run."""

    id: str
    parts: Parts
    stated: Parts = field(default_factory=dict)  # what not every run states: those that do must agree
    # Of parts that are items: what decides the numbers of each, by its name, and what a difference of it is called. The
    # item's own content comes first.
    items: Mapping[str, Items] = field(default_factory=dict)

    def differing(self, other: RunStudy, most_lacking: float = 0.0) -> list[str]:
        """The parts in which another study differs, with both values; empty where it is the same one.

        Items that one of both lacks, of each part at most the share `most_lacking`, are no difference.
        """
        shared = self.stated.keys() & other.stated.keys()
        against = [name for name in self.stated if name in shared and self.stated[name] != other.stated[name]]
        if against:
            return [f"{name}{_values(name, self.stated[name], other.stated[name])}" for name in against]
        nearly = {part for part in self.items if self._lacks_few(part, other, most_lacking)}
        if self.id == other.id:
            return []
        alone = [part.partition(" of ")[2] for part in self.items.keys() ^ other.items.keys()]
        follow = {
            part
            for part in self.parts.keys() | other.parts.keys()
            if part not in {**self.items, **other.items} and any(_is_of(part, where) for where in alone)
        }
        differ = _differences(self.parts, other.parts, follow | nearly)
        found = [f"{part}{values}{self._other_items(part, other)}" for part, values in differ]
        named = nearly if nearly and _without(self.parts, nearly) == _without(other.parts, nearly) else ()
        return found if found or named else ["what was asked"]

    def contradicting(self, other: RunStudy) -> list[str]:
        """The parts in which numbers of the items that both studies have were made otherwise."""
        shared = {name for name in self.parts.keys() & other.parts.keys() if name not in self.items}
        stated = self.stated.keys() & other.stated.keys()
        found = [
            *(f"{name}{_values(name, self.parts[name], other.parts[name])}" for name in sorted(shared)
              if self.parts[name] != other.parts[name] or self.parts[name] == NOT_RECORDED),
            *(f"{name} ({self.stated[name]} against {other.stated[name]})" for name in sorted(stated)
              if self.stated[name] != other.stated[name]),
        ]  # fmt: skip
        for part, own in self.items.items():
            there = other.items.get(part, {})
            same = [item for item in own.keys() & there.keys() if _content(own[item]) == _content(there[item])]
            for what in dict.fromkeys(name for item in same for name in own[item]):
                moved = [item for item in same if own[item][what] != there[item].get(what)]
                found += [f"the {what}s of {part}: {_first(moved)}"] if moved else []
        return found

    def share_lacking(self, other: RunStudy) -> float:
        """The largest share of the items of a part that another study lacks."""
        lacking = [
            len(own.keys() - other.items.get(part, {}).keys()) / len(own) for part, own in self.items.items() if own
        ]
        return max(lacking, default=0.0)

    def _lacks_few(self, part: str, other: RunStudy, most: float) -> bool:
        """Whether the items of a part that both have are equal, and few are of one alone; False where all are equal."""
        here, there = self.items[part], other.items.get(part, {})
        lacking = max(len(here.keys() - there.keys()), len(there.keys() - here.keys()))
        items = len(here.keys() | there.keys())  # of both, so that it does not matter which of the runs is named first
        equal = all(here[item] == there[item] for item in here.keys() & there.keys())
        return equal and lacking > 0 and lacking / items <= most

    def _other_items(self, part: str, other: RunStudy) -> str:
        """The first items that only one of both has, or that differ: '; it lacks 7, 9 and 4 more'."""
        here, there = self.items.get(part, {}), other.items.get(part, {})
        if not (here and there):  # the other one has no such part at all, or does not record it
            return ""
        shared = here.keys() & there.keys()
        groups = {"it lacks": here.keys() - shared, "it also has": there.keys() - shared}
        for what in dict.fromkeys(name for item in shared for name in here[item]):
            of_both = {item for item in shared if here[item].get(what) != there[item].get(what)}
            groups[f"with another {what}:"] = of_both
        content = next((f"with another {next(iter(here[item]))}:" for item in shared), "")  # an id, which says no more
        of_content = [items for what, items in groups.items() if what in _OF_CONTENT and what != content]
        if groups.get(content) and groups[content] <= set().union(*of_content):
            groups[content] = set()
        said = [
            f"{what} {_first(items)}" + ("" if what in (content, _FACETS) else _example(what, here, there, items))
            for what, items in groups.items()
            if items
        ]
        return f": {'; '.join(said)}" if said else ""

    def joined(self, other: RunStudy) -> RunStudy:
        """The same study, with what the other one states of it, too."""
        return replace(self, stated={**other.stated, **self.stated})


def studied(
    what: Sequence[object],
    manifest: Manifest,
    parts: Parts,
    stated: Parts = MappingProxyType({}),
    items: Mapping[str, Items] = MappingProxyType({}),
) -> RunStudy:
    """The study of a run with these parts; `what` says of what. One that is not recorded is a study of its own."""
    alone = [manifest.experiment, sorted(manifest.models)] if NOT_RECORDED in parts.values() else []
    return RunStudy(content_id(*what, parts, *alone), parts, stated, items)


def study_of_texts(manifest: Manifest, prompts: Mapping[str, Items] = MappingProxyType({})) -> RunStudy:
    """The study of a run's texts.

    `prompts` are those of imported texts by language, each by its text, with the cell that it asks about: a run of
    generated texts has hashes of its own in the manifest. A language of which some texts have no prompt is left out.
    """
    named = {f"{_PROMPTS}{language}": items for language, items in prompts.items()}
    hashes = {name: f"{len(items)}, {content_id(sorted(map(str, items.items())))}" for name, items in named.items()}
    return studied(_OF_TEXTS, manifest, {**study_parts(manifest), **hashes}, items=named)


def study_parts(manifest: Manifest) -> Parts:
    """What decides the numbers of a run's texts, by name: how they were asked for, and how they were measured."""
    return {**_asked(manifest), **_measured(manifest)}


def study_id(manifest: Manifest) -> str:
    """24 hexadecimal digits: equal for runs whose numbers may be shown beside each other.

    A run that does not record its prompts is a study of its own.
    """
    return studied(_OF_TEXTS, manifest, study_parts(manifest)).id


def differing(one: Manifest, other: Manifest) -> list[str]:
    """The parts in which the studies of two runs differ, with both values: 'temperature (0.7 against 1.0)'.

    Prompts that a run does not record count as different ones.
    """
    return differing_parts(study_parts(one), study_parts(other))


def differing_parts(one: Parts, other: Parts) -> list[str]:
    """The parts in which two studies differ, with both values."""
    return [f"{part}{values}" for part, values in _differences(one, other, ())]


def measured_otherwise(candidate: Manifest, baseline: Manifest) -> str | None:
    """Why a difference of two runs may come from how they were measured; None where they were measured alike.

    Only topics that both have are considered.
    """
    here, there = (study_parts(run) for run in (candidate, baseline))
    besides = _asked(candidate).keys() | _asked(baseline).keys()
    differ = [f"{part}{values}" for part, values in _differences(here, there, besides)]
    return f"measured otherwise: the runs differ in {', '.join(differ)}" if differ else None


def other_addresses(candidate: Manifest, baseline: Manifest) -> str | None:
    """A line where the extractors of two runs have one name and answered at two addresses; else None."""
    here, there = (_setup(run).get(_ADDRESS) for run in (candidate, baseline))
    name = candidate.extractor.get("with")
    if here == there or name != baseline.extractor.get("with"):
        return None
    default = f"the address of {str(name).partition(':')[0]}"
    return (
        f"the extractor {name} answered at {here or default} for this run and at {there or default} for the baseline: "
        "the name alone says that both are one model"
    )


def _asked(manifest: Manifest) -> dict[str, str]:
    """How the texts were asked for."""
    prompts = manifest.prompts
    parts = {name: ", ".join(sorted(getattr(manifest, name))) or _NONE for name in _LISTS}
    parts["wordings"] = ", ".join(prompts.get("wordings", ())) or _NONE
    parts["names"], parts["seed of names"] = (str(prompts.get(key, _NONE)) for key in ("names", "seed"))
    parts["system prompt"] = prompts.get("system", _NONE)
    texts = prompts.get("texts", dict.fromkeys(manifest.languages, NOT_RECORDED) if manifest.topics else {})
    parts |= {f"{_PROMPTS}{language}": texts[language] for language in sorted(texts)}
    sentences = {language: text for of_model in manifest.appended.values() for language, text in of_model.items()}
    parts["sentences of some models"] = content_id(sentences) if sentences else _NONE
    decoding = {name: value for name, value in manifest.sampling.items() if name != "n"}
    return {**parts, "n": str(manifest.n), **{name: str(value) for name, value in sorted(decoding.items())}}


def _measured(manifest: Manifest) -> dict[str, str]:
    """How the texts were measured."""
    extractors = [one for one in manifest.asked.get(TEXTS, []) if not one.reads]
    # The file of the instruction may have any name: its content is among the hashes of each topic.
    named = {key: str(value) for key, value in manifest.extractor.items() if key != "prompt"}
    parts = {_EXTRACTOR: named.pop("with", _NONE), **{f"{_EXTRACTOR}'s {key}": named[key] for key in sorted(named)}}
    options = dict(_leaves("", {key: value for key, value in _setup(manifest).items() if key != _ADDRESS}))
    parts |= {f"{_EXTRACTOR}'s {path}": str(options[path]) for path in sorted(options)}
    for one in sorted(extractors, key=lambda one: one.what):
        hashes = {key: value for key, value in one.settings.items() if not key.startswith(EXTRACT_KEYS)}
        parts[f"{_OF}{one.what}"] = content_id(hashes)
    parts[_READER] = manifest.reader_id or _NONE
    parts["links"] = ", ".join([manifest.linker.get("source", _NONE), *filter(None, [manifest.linker.get("forms")])])
    parts["snapshot"] = str(manifest.snapshot.get("identity", _NONE))
    parts["linker"] = manifest.linker_id or _NONE
    packs = {f"culture pack {one['name']}": f"version {one['version']}, {one['sha256'][:12]}" for one in manifest.packs}
    return {**parts, **dict(sorted(packs.items()))}


def _is_of(part: str, where: str) -> bool:
    """Whether a part is of the questions `where`, as 'reader ours of kobbq' is of 'kobbq in ko, letter'."""
    _, of, what = part.partition(" of ")
    return bool(of) and where.startswith(what)


def _without(parts: Parts, names: Collection[str]) -> Parts:
    return {name: value for name, value in parts.items() if name not in names}


def _content(item: Parts) -> str:
    return next(iter(item.values()))


def _in_order(items: Collection[str]) -> list[str]:
    return sorted(items, key=lambda name: (len(name), name) if name.isdecimal() else (math.inf, name))


def _first(items: Collection[str]) -> str:
    """The first few of some names, numbers in their order."""
    names = _in_order(items)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(name[:_SHORT] for name in names[:_NAMED])}{more}"


def _example(what: str, here: Items, there: Items, items: Collection[str]) -> str:
    """What the first of some items says in both studies, from where they differ: ' ("a" against "b")'."""
    name = what.removeprefix("with another ").removesuffix(":")
    item = _in_order(items)[0]
    values = [str(study.get(item, {}).get(name, "")) for study in (here, there)]
    if values[0] == values[1]:
        return ""
    same = next((at for at, (a, b) in enumerate(zip(*values, strict=False)) if a != b), min(map(len, values)))
    start = 0 if same < _SHORT // 2 else same - _SHORT // 4
    one, other = (f"{'…' if start else ''}{value[start : start + _SHORT]}" for value in values)
    return f' ("{one}" against "{other}")'


def _differences(one: Parts, other: Parts, besides: Collection[str]) -> Iterator[tuple[str, str]]:
    """The differing parts, but for those `besides`, each with its values in words."""
    differ = [part for part in {**one, **other} if _differs(part, one, other)]
    for part in differ:
        first = next((firsts for start, firsts in _FOLLOWS.items() if part.startswith(start)), ())
        values = one.get(part, _MISSING), other.get(part, _MISSING)
        if part not in besides and (NOT_RECORDED in values or not any(cause in differ for cause in first)):
            yield part, _values(part, *values)


def _differs(part: str, one: Parts, other: Parts) -> bool:
    if part.startswith(OF_VALUE) and not (part in one and part in other):
        return False
    return one.get(part) != other.get(part) or one.get(part) == NOT_RECORDED


def _values(part: str, one: str, other: str) -> str:
    """' (A against B)' where both are short enough to be read; of a list, what the other one lacks."""
    if part in _LISTS:
        values = one.split(", "), other.split(", ")
        lacking = [[value for value in mine if value not in theirs] for mine, theirs in (values, values[::-1])]
        one, other = (", ".join(some) or _NONE for some in lacking)
    if NOT_RECORDED in (one, other):
        return f" ({NOT_RECORDED})"
    if max(len(one), len(other)) > _SHORT or part.startswith((*OF_VALUE, "linker", "sentences")):
        return ""
    return f" ({one} against {other})"


def _setup(manifest: Manifest) -> Mapping[str, Any]:
    """The setup of the model that extracts; empty where none does."""
    return manifest.setups.get(f"extract {manifest.extractor.get('with')}", {})


def _leaves(path: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(f"{path}.{key}" if path else str(key), part)
    elif value is not None:
        yield path, value

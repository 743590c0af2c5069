"""`polyculture link show`: the link of one surface and its evidence, as a tree or as JSON."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import ExperimentError
from polyculture.cache.text.sanitize import replace_control_chars
from polyculture.cli.arrow_alone import load_arrow_alone
from polyculture.cli.options import Packs, SnapshotName
from polyculture.console import say
from polyculture.experiment.snapshots import STARTER, find_snapshot

if TYPE_CHECKING:
    from polyculture.cache.catalog import Catalog
    from polyculture.link.index.snapshot import Snapshot
    from polyculture.link.show.explain import Explanation, NamedItem, RankedCandidate

LONGEST = 250  # characters of a label or alias, by Wikidata's own rule
STATUS_WORDS = {
    "linked": "linked",
    "ambiguous": "ambiguous, another item may be meant",
    "no path": "no path, items have the name and none of them reaches the topic's classes",
    "no candidate": "no candidate, no item here has the name",
}


class ShowFormat(StrEnum):
    """The output formats of an explanation."""

    TREE = "tree"
    JSON = "json"


def show(
    surface: Annotated[str, typer.Argument(metavar="SURFACE", help="The surface, e.g. kimono.")],
    language: Annotated[str, typer.Option(help="The language of the text, e.g. th.")],
    topic: Annotated[str, typer.Option(help="The topic, e.g. clothing.")],
    kind: Annotated[str | None, typer.Option(help="Only this kind of the topic. Default: all counted kinds.")] = None,
    snapshot: SnapshotName = STARTER,
    name: Annotated[str | None, typer.Option(help="Its dictionary form, as an extractor gives it.")] = None,
    english: Annotated[str | None, typer.Option(help="Its English name, as an extractor gives it.")] = None,
    rivals: Annotated[int, typer.Option(min=0, help="How many rejected candidates are shown.")] = 5,
    catalog: Packs = None,
    format: Annotated[ShowFormat, typer.Option("--format", "-f", help="How it is printed.")] = ShowFormat.TREE,
) -> None:
    """Show the link of a surface and its evidence: match, path to the topic, countries, other candidates."""
    load_arrow_alone("pyarrow.compute")
    from polyculture.link.linker import Linker
    from polyculture.link.show.explain import chosen_kinds, explain, normal_form

    for what, text in (("the surface", surface), ("--name", name), ("--english", english)):
        _check_text(what, text)
    known = read_catalog(*catalog or ())
    known.language(language)
    chosen_kinds(known, topic, kind)
    opened = _index(snapshot, known, language, topic)
    explanations = explain(
        Linker(known, opened), surface, language, topic, kind, name=name, english=english, rivals=rivals
    )
    asked = {"surface": surface, "language": language, "topic": topic, "source": Path(snapshot).name}
    asked["normal_form"] = normal_form(surface, language, known)
    if format is ShowFormat.JSON:
        _print_json({**asked, "kinds": explanations})
    else:
        _print_tree({**asked, "language": known.language(language).name}, explanations)


def _check_text(what: str, text: str | None) -> None:
    if text is None:
        return
    if not text.strip():
        raise ExperimentError(f"{what} is empty", remedy="Write, for example: polyculture link show kimono ...")
    if any(unicodedata.category(letter) == "Cs" for letter in text):  # how the shell's odd bytes arrive
        raise ExperimentError(f"{what} holds bytes that are no UTF-8", remedy="Write it in UTF-8.")


def _index(snapshot: str, catalog: Catalog, language: str, topic: str) -> Snapshot:
    from polyculture.link.linker import lacking

    source = find_snapshot(snapshot, Path.cwd())
    for line in lacking(source, catalog, [language], [topic]):
        say(f"{source.path} holds for {line}")
    return source


def _print_json(explained: dict[str, Any]) -> None:
    import orjson

    sys.stdout.write(orjson.dumps(explained, option=orjson.OPT_INDENT_2).decode() + "\n")


@dataclass
class _Branch:
    """A line of a tree with what is below it. Not rich's: to load that takes longer than to look a name up."""

    line: str
    below: list[_Branch] = field(default_factory=list)

    def add(self, text: str) -> _Branch:
        """Adds a line."""
        branch = _Branch(_one_line(text))
        self.below.append(branch)
        return branch

    def lines(self, first: str = "", following: str = "") -> Iterator[str]:
        """All lines, each behind the strokes that lead to it."""
        yield first + self.line
        for branch in self.below:
            last = branch is self.below[-1]
            yield from branch.lines(
                *(following + strokes for strokes in (("└── ", "    ") if last else ("├── ", "│   ")))
            )


def _one_line(text: str) -> str:
    """The text without control characters: names are untrusted."""
    return replace_control_chars(text).replace("\n", "\ufffd")


def _start(text: str) -> str:
    """The start of a text that is longer than any name in Wikidata, and how long it is."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"


def _print_tree(asked: dict[str, str], explanations: Sequence[Explanation]) -> None:
    place = f" in {asked['language']}, {asked['topic']}, looked up in {asked['source']}"
    tree = _Branch(_one_line(f'"{_start(asked["surface"])}"{place}'))
    tree.add(f"normal form: {_start(asked['normal_form'])}")
    for _, alike in groupby(explanations, key=_without_kind):
        _add_kinds(tree, list(alike))
    sys.stdout.writelines(f"{line}\n" for line in tree.lines())


def _without_kind(explanation: Explanation) -> tuple[Any, ...]:
    """The parts in which two kinds must agree to be shown as one."""
    candidates = [explanation.chosen, *explanation.rivals]
    shown = [(c.item.qid, c.match, c.path, c.reason) if c else None for c in candidates]
    return (explanation.status, explanation.candidates, explanation.english_item, shown)


def _add_kinds(tree: _Branch, alike: Sequence[Explanation]) -> None:
    first = alike[0]
    kinds = ", ".join(explanation.kind for explanation in alike)
    branch = tree.add(f"as {kinds}: {STATUS_WORDS[first.status]}")
    if first.chosen:
        _add_chosen(branch, first, first.chosen, kinds)
    for rival in first.rivals:
        branch.add(f"{_name(rival.item)}: {_matched(rival)}; {rival.reason}")
    for near in first.near_misses:
        branch.add(f'"{near.name}" ({near.language}), {near.qid}: {near.reason}')
    more = first.candidates - len(first.rivals) - (first.chosen is not None)
    if more > 0:
        branch.add(f"... and {more} more")


def _add_chosen(branch: _Branch, explanation: Explanation, chosen: RankedCandidate, kinds: str) -> None:
    node = branch.add(_name(chosen.item))
    if chosen.item.description:
        node.add(chosen.item.description)
    node.add(f"matched: {_matched(chosen)}")
    reached = f" (as {chosen.reached_kind})" if chosen.reached_kind not in kinds.split(", ") else ""
    way = " > ".join(_name(item) for item in (chosen.item, *chosen.path))
    node.add(f"path{reached}: {way}")
    for country in explanation.countries:
        named = f"{_name(country.item)}, by {country.property} {country.property_name}"
        if country.country:
            node.add(f"country: {country.country}, {named}")
        elif country.successors:
            node.add(f"country: open between {', '.join(country.successors)}: {named}")
        else:
            node.add(f"country: none of ISO 3166: {named}")
    if not explanation.countries:
        node.add("country: none is given")
    if explanation.english_item:
        node.add(f"the English name disagrees: it matches {_name(explanation.english_item)}")
    node.add(f"{_sitelinks(chosen.sitelinks)}; {chosen.reason}")


def _sitelinks(known: int | None) -> str:
    return "unknown sitelinks" if known is None else f"{known} sitelinks"


def _name(item: NamedItem) -> str:
    labels = list(dict.fromkeys(label for label in (item.label, item.own_label) if label))
    return f"{' · '.join(labels)} ({item.qid})" if labels else item.qid


def _matched(ranked: RankedCandidate) -> str:
    return f'{ranked.match} match of the {ranked.matched_by}, "{ranked.matched}" ({ranked.matched_language})'

"""The evidence behind the numbers: entities, mentions, responses and prompts, as data for the page's script.

A run may be far larger than a page. The page embeds a bounded part, the most mentioned items first, and says so. The
rest is written in parts of the same form, one per language and topic, which the page's script loads on request. Every
filter of the page finds a response: the first response of an item in each place comes before the second in any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from polyculture.cache.store.manifest import Manifest
from polyculture.reports.names import Names, short
from polyculture.reports.reading import SQL, Reading, statements
from polyculture.reports.texts import texts

_SQL = statements(SQL / "evidence.sql")
LONGEST = 4_000  # characters of one response
DRAWN = 200_000  # responses that are sorted at most: millions would take hours and much memory

AXES = ("model", "language", "topic", "condition", "country")
PART_AXES = ("language", "topic")
_FINEST_FIRST = (("condition", "country"), ("condition",), ())  # how a place divides a model, language and topic


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of a page or a part."""

    linked: int  # rows of the table: linked items
    other: int  # and items of every other status
    texts: int  # bytes of all responses together
    counts: int  # how finely the counts may be split
    last: bool = False  # nothing behind it holds more


WHOLE = Bounds(linked=1_500, other=250, texts=2_500_000, counts=60_000)
PART = Bounds(linked=6_000, other=1_000, texts=4_000_000, counts=150_000, last=True)


def read_evidence(reading: Reading, manifest: Manifest, names: Names) -> dict[str, Any]:
    """All data of the page's script, as plain lists and dictionaries.

    `parts` names the file of the rest for each place on the axes language and topic; it is empty where the page holds
    everything.
    """
    reading.run(_SQL["run_texts"], longest=LONGEST)
    for name in ("run_mentions", "run_items", "every_mention"):
        reading.run(_SQL[name])
    whole = _evidence(reading, WHOLE, _axes(manifest, reading.rows(_SQL["axes"])[0]), names)
    reading.run(_SQL["no_mention"])
    places = product(*(range(len(whole["axes"][axis])) for axis in PART_AXES))
    whole["parts"] = {} if _complete(whole) else {f"{a},{b}": f"{a:02}-{b:02}.js" for a, b in places}
    return whole


def read_parts(reading: Reading, whole: Mapping[str, Any], names: Names) -> Iterator[tuple[str, dict[str, Any]]]:
    """The name and the data of each part that `whole` names."""
    axes = {axis: [code for code, _ in values] for axis, values in whole["axes"].items()}
    for place, file in whole["parts"].items():
        chosen = zip(PART_AXES, map(int, place.split(",")), strict=True)
        reading.run(_SQL["some_mentions"], **{axis: whole["axes"][axis][number][0] for axis, number in chosen})
        yield file, _evidence(reading, PART, axes, names)


def _complete(whole: Mapping[str, Any]) -> bool:
    """Does the page hold every item, the finest counts and every response?"""
    every_item = len(whole["items"]) == sum(whole["of_status"].values())
    return bool(whole["split"] == list(AXES) and every_item and not whole["left_out"])


def _evidence(reading: Reading, bounds: Bounds, axes: Mapping[str, Sequence[str]], names: Names) -> dict[str, Any]:
    reading.run(_SQL["surfaces"])
    reading.run(_SQL["items"], item_limit=bounds.linked, other_limit=bounds.other)
    for name in ("surface_items", "item_cells"):
        reading.run(_SQL[name])
    split = _split(reading, bounds)
    reading.run(_SQL["shown_responses"], text_budget=bounds.texts)
    shown = reading.rows(_SQL["texts"])
    details = reading.rows(_SQL["details"])
    counts = reading.rows(_SQL["counts_shown"], row_limit=bounds.counts)
    cells: dict[tuple[int, ...], int] = {}
    responses = _responses(shown, reading.rows(_SQL["marks"]), axes, cells)
    items = _items(details, counts, axes, cells, names)
    return {
        "axes": {axis: [[code, getattr(names, axis)(code)] for code in axes[axis]] for axis in AXES},
        "split": [axis for axis in AXES if axis in ("model", "language", "topic", *split)],
        "statuses": [[code, name, texts().status_notes[code]] for code, name in texts().statuses.items()],
        "of_status": {row["status"]: row["of_status"] for row in details},
        "items": items,
        "responses": responses,
        "prompts": list(dict.fromkeys(row["prompt"] for row in shown)),
        "cells": list(cells),
        "left_out": _left_out(reading, bounds)["responses"],
    }


def _split(reading: Reading, bounds: Bounds) -> tuple[str, ...]:
    """The finest split of counts and responses that fits."""
    for split in _FINEST_FIRST:
        by = {"by_condition": "condition" in split, "by_country": "country" in split}
        reading.run(_SQL["counts"], **by)
        places = reading.rows(_SQL["counts_size"])[0]["rows"]
        if places > bounds.counts and split:
            continue
        reading.run(_SQL["drawn_responses"], **by, laps=DRAWN // (places + 1) + 1)
        if bounds.last or not _left_out(reading, bounds)["needed"]:
            break
    return split


def _left_out(reading: Reading, bounds: Bounds) -> dict[str, int]:
    """The number of responses that do not fit, and of those among them that are the only one of a place."""
    return reading.rows(_SQL["left_out"], text_budget=bounds.texts)[0]


def _axes(manifest: Manifest, asked: Mapping[str, Sequence[str] | None]) -> dict[str, list[str]]:
    """The codes of each axis: those of the experiment file in its order, then all others that were asked."""
    known: dict[str, Sequence[str]] = {
        "model": manifest.models,
        "language": manifest.languages,
        "topic": manifest.topics,
        "condition": manifest.conditions,
        "country": manifest.countries,
    }
    return {axis: [*known[axis], *sorted(set(asked[axis] or ()) - set(known[axis]))] for axis in AXES}


def _cell(row: Mapping[str, Any], axes: Mapping[str, Sequence[str]], cells: dict[tuple[int, ...], int]) -> int:
    """The number of a row's cell: its index on each axis, -1 for none (a neutral prompt has no country)."""
    place = tuple(-1 if row[axis] is None else axes[axis].index(row[axis]) for axis in AXES)
    return cells.setdefault(place, len(cells))


def _items(
    details: Sequence[Mapping[str, Any]],
    counts: Sequence[Mapping[str, Any]],
    axes: Mapping[str, Sequence[str]],
    cells: dict[tuple[int, ...], int],
    names: Names,
) -> list[dict[str, Any]]:
    """The items, each with its counts as cell, number, cell, number, ..."""
    labels = {row["qid"]: row["label"] for row in details if row["qid"]}
    items = [{**_item(row, names, labels), "counts": []} for row in details]
    for row in counts:
        items[row["item"]]["counts"] += [_cell(row, axes, cells), row["mentions"]]
    return items


def _item(row: Mapping[str, Any], names: Names, labels: Mapping[str, str]) -> dict[str, Any]:
    item = {"status": row["status"], "kinds": row["kinds"]}
    if row["qid"] is None:
        return {**item, "label": short(row["surface"]), "language": row["language"], "topic": row["topic"]}
    countries = [(c["country"], c["country_qid"], c["property"]) for c in row["countries"] or ()]
    return {
        **item,
        "qid": row["qid"],
        "label": short(row["label"] or row["qid"]),
        "labels": _labels(row, names),
        "description": short(row["description"] or ""),
        "countries": [[names.origin(code, qid), source] for code, qid, source in countries],
        **(
            {"from": names.country(row["origin"]) if row["origin"] else row["origin_kind"]}
            if row["origin_kind"]
            else {}
        ),
        "path": [[qid, labels.get(qid)] for qid in row["path"] or ()],
        "match": row["match"],
    }


def _labels(row: Mapping[str, Any], names: Names) -> list[list[str]]:
    """The entity's labels in the languages of its mentions, where they differ from the shown label."""
    found = row["labels"] or {}
    chosen = []
    for language in row["languages"]:
        label = next((found[code] for code in names.label_languages(language) if code in found), None)
        if label and label != row["label"]:
            chosen.append([language, short(label)])
    return chosen


def _responses(
    shown: Sequence[Mapping[str, Any]],
    marks: Sequence[Mapping[str, Any]],
    axes: Mapping[str, Sequence[str]],
    cells: dict[tuple[int, ...], int],
) -> list[dict[str, Any]]:
    """The shown responses, each with its marks as start, end, item, start, end, item, ..."""
    prompts = {prompt: number for number, prompt in enumerate(dict.fromkeys(row["prompt"] for row in shown))}
    responses = [
        {
            "cell": _cell(row, axes, cells),
            "sample": row["sample"],
            "prompt": prompts[row["prompt"]],
            "text": row["text"],
            "marks": [],
            **({"cut": True} if row["cut"] else {}),
            **({"detected": row["detected_language"]} if row["detected_language"] != row["language"] else {}),
        }
        for row in shown
    ]
    for mark in marks:
        responses[mark["number"]]["marks"] += [mark["start"], mark["end"], mark["item"]]
    return responses

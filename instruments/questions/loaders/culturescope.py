"""CultureScope's released sheets as rows of questions whose wrong options are what other cultures answer (3.2.3).

A `resource` question has a wrong option of each resource level, of another culture than the target; that of the highest
level is the biased one. Of a `region` question one is of the target's own region, the biased one, and two are of two
other regions. The group of the target tells which it is. Roles are 'own', 'biased' and 'other'.

Where BLEnD was fetched, topics are known, and whether annotators of the target gave a wrong option as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from string import ascii_uppercase

from polyculture.cache.text.folding import fold
from polyculture.instruments.cultures.cultures import Culture, Cultures, read_cultures
from polyculture.instruments.questions.loaders.blend import asks_for
from polyculture.instruments.questions.model import BIASED, OTHER, Question
from polyculture.instruments.questions.rules.opened import open_set
from polyculture.sources.cells import opened
from polyculture.sources.fetch import data_folder
from polyculture.sources.record import BadRow, Record

OPTIONS = 4
OWN = "own"  # the role of the target's answer
NOT_KNOWN = "not known"
RESOURCE, REGION = "resource", "region"  # where the wrong options are from
_COLUMNS = ("ID", "target_country", "target_region", "prompt", "region_choices_list", "region_choice_countries_list",
            "region_choice_region_list", "region_answer")  # fmt: skip


def rows(records: Iterable[Record | BadRow], _file: Path) -> Iterator[Record | BadRow]:
    """A row for each of a sheet; why it cannot be used where it contradicts itself or names a country that is no
    culture."""
    cultures = read_cultures()
    for record in records:
        if isinstance(record, BadRow):
            yield record
            continue
        row = {name: str(value or "").strip() for name, value in record.values.items()}
        try:
            yield replace(record, values=_checked(row, cultures))
        except ValueError as fault:
            yield BadRow(record.row, str(fault), row.get("ID"))


def _checked(row: Mapping[str, str], cultures: Cultures) -> dict[str, object]:
    """A row as a question's columns. Raises `ValueError` with what is wrong."""
    if missing := [name for name in _COLUMNS if name not in row]:
        raise ValueError(f"no column {missing[0]!r}; there are: {', '.join(row)}")
    if not row["ID"] or not row["prompt"]:
        raise ValueError("no ID" if not row["ID"] else "no prompt")
    target, group = _culture(cultures, row["target_country"]), _group(cultures, row["target_region"])
    kind = RESOURCE if group in cultures.levels else REGION
    texts = _list(row, "region_choices_list")
    countries = [_culture(cultures, name) for name in _list(row, "region_choice_countries_list")]
    groups = [_group(cultures, name) for name in _list(row, "region_choice_region_list")]
    right = _right(row, texts)
    if len(set(texts)) < OPTIONS:
        raise ValueError("an option is there twice")
    if (countries[right], groups[right]) != (target, group):
        raise ValueError(f"the right option is of {countries[right].country}, {groups[right]}, not of the target")
    wrong = [at for at in range(OPTIONS) if at != right]
    biased = _biased(kind, group, [groups[at] for at in wrong], cultures.levels)
    return {
        "ID": row["ID"],
        "prompt": row["prompt"],
        "options": texts,
        "answer": texts[right],
        "asks_for": asks_for(row["prompt"]),
        "roles": [OWN if at == right else BIASED if groups[at] == biased else OTHER for at in range(OPTIONS)],
        "right": right,
        "type": kind,
        "country": target.country,
        "level": group if kind == RESOURCE else target.level,
        "region": group if kind == REGION else target.region,
        "own_level": target.level,
        "own_region": target.region,
        "levels": "; ".join(cultures.levels),  # all, from the most resources to the least
        "countries": "; ".join(one.country for one in countries),  # of the options, in their order
        "groups": "; ".join(groups),
        **_of_blend(row["ID"], target.country, [texts[at] for at in wrong]),
    }


def _biased(kind: str, group: str, wrong: Sequence[str], levels: Sequence[str]) -> str:
    """The group of the biased option. Raises `ValueError` where the wrong ones are of other groups than needed."""
    if kind == RESOURCE:
        if sorted(wrong) != sorted(levels):
            raise ValueError(f"the wrong options are of {', '.join(wrong)}, not one of each level")
        return levels[0]
    if wrong.count(group) != 1 or len(set(wrong)) < len(wrong):
        raise ValueError(f"the wrong options are of {', '.join(wrong)}, not one of {group} and of two other regions")
    return group


def _of_blend(source_id: str, country: str, wrong: Sequence[str]) -> dict[str, str]:
    """The topic, and whether annotators of the target gave a wrong option as well."""
    asked = _fetched().get((source_id, country))
    if asked is None:
        return {"also_given": NOT_KNOWN, "topic": ""}
    given = {fold(text) for text in asked.answers}
    return {"also_given": "yes" if given & {fold(text) for text in wrong} else "no", "topic": asked.facets["topic"]}


def _fetched() -> Mapping[tuple[str, str], Question]:
    """BLEnD's questions that somebody answered, by id and country, where it is at hand."""
    folder = data_folder("blend")
    there = any((place / "annotations").is_dir() for place in (folder, folder / "data"))
    return _loaded(folder) if there else {}


@cache
def _loaded(folder: Path) -> Mapping[tuple[str, str], Question]:
    asked = open_set("blend", folder, "with-numbers").questions
    return {(one.unit, one.facets["country"]): one for one in asked}


def _culture(cultures: Cultures, name: str) -> Culture:
    found = cultures.country(name)
    if found is None:
        raise ValueError(f"{name!r} is no country of the cultures")
    return found


def _group(cultures: Cultures, name: str) -> str:
    found = cultures.group(name)
    if found is None:
        raise ValueError(f"{name!r} is neither a level nor a region of the cultures")
    return found


def _list(row: Mapping[str, str], column: str) -> list[str]:
    """A cell as its list of four texts. Raises `ValueError` where it is none."""
    found = opened(row[column])
    if not isinstance(found, list) or len(found) != OPTIONS:
        raise ValueError(f"{column} is no list of {OPTIONS}")
    return [" ".join(str(one).split()) for one in found]


def _right(row: Mapping[str, str], texts: Sequence[str]) -> int:
    """The index of the right option, which may be told in three columns. Raises `ValueError` where they differ."""
    told = row["region_answer"].removesuffix(".0")
    if told not in map(str, range(OPTIONS)):
        raise ValueError(f"region_answer {told!r} is none of 0 to {OPTIONS - 1}")
    right = int(told)
    letter = row.get("answer_idx", "")
    if letter and letter.upper() != ascii_uppercase[right]:
        raise ValueError(f"answer_idx {letter!r} contradicts region_answer {right}")
    text = row.get("answer_str", "") or row.get("region_answer_str", "")
    if text and " ".join(text.split()) != texts[right]:
        raise ValueError(f"the answer's text {text!r} contradicts region_answer {right}")
    return right

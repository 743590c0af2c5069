"""Open questions from published data: BLEnD in English or in local languages, the study's sheets, and CAMeL-2.

What a rule leaves out is counted in a line. Cultures, with their region and resource level, are data of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from polyculture.cache.errors import DataSetError
from polyculture.instruments.cultures.cultures import Cultures, read_cultures
from polyculture.instruments.probe.questions import HumanAnswer, OpenQuestion, read_questions

if TYPE_CHECKING:
    from polyculture.instruments.cultures.blend import Blend, BlendQuestion
    from polyculture.sources.left_out import LeftOut

Data = Literal["blend", "camel2", "culturescope"]
LOCAL, ENGLISH = "local", "en"
_GAP = "\0"  # for a culture's name in a question
_NAMED = 3  # remarks that a line names


@dataclass(frozen=True)
class Opened:
    """Questions of one origin, the cultures that they are about, and lines about what is left out."""

    dataset: str  # in the store
    where: Path
    questions: Sequence[OpenQuestion]
    cultures: Cultures
    told: tuple[str, ...] = ()

    def culture(self, name: str) -> str:
        """A culture as the questions name it, under any spelling that is known."""
        found = self.cultures.country(name)
        there = {one.culture for one in self.questions}
        return name if name in there or found is None else found.country


def open_table(file: Path, cultures: Path | None) -> Opened:
    """A table of questions; cultures that a file of cultures knows, by any spelling, have its region and level."""
    known = read_cultures(cultures)
    found = [placed(one, known) for one in read_questions(file)]
    without = sorted({one.culture for one in found if one.region is None})
    asked = [
        one if one.region else replace(one, neighbours=tuple(name for name in without if name != one.culture))
        for one in found
    ]
    return Opened(file.stem, file, asked, known)


def open_published(data: Data, folder: Path | None, languages: Sequence[str], cultures: Path | None) -> Opened:
    """The questions of published data. Raises `DataSetError` where files are missing or hold none that can be asked."""
    from polyculture.instruments.probe.camel2 import CULTURES, open_camel2
    from polyculture.sources.fetch import place_of

    place = place_of(folder, data)
    if data == "camel2":
        return open_camel2(place, read_cultures(cultures or CULTURES))
    known = read_cultures(cultures)
    return open_blend(place, languages, known) if data == "blend" else open_sheets(place, known)


def open_blend(folder: Path, languages: Sequence[str], cultures: Cultures) -> Opened:
    """BLEnD's questions in English, or where `languages` name another or 'local', each in its culture's language.

    In a language in which cultures have names, all of them are asked about: by the text of a culture whose language it
    is, with the name exchanged. The study asks in Spanish so far as its figures tell (3.2.1, Figure 7c). Left out, with
    their number: questions that nobody answered, those that ask for a number, and those without a text in the language.
    """
    from polyculture.instruments.cultures.blend import load_blend

    local = bool(languages) and ENGLISH not in languages
    if languages and not local and set(languages) != {ENGLISH}:
        what = f"BLEnD is asked in English or in local languages, not in {' and '.join(languages)} at once"
        raise DataSetError(what, remedy=f"Name --language {ENGLISH}, --language {LOCAL}, or some local languages.")
    blend, told = load_blend(folder, cultures), Counter[str]()
    named = [code for code in languages if any(code in one.names for one in cultures.countries.values())]
    code = named[0] if local and len(languages) == 1 and named else None
    texts = _texts_in(code, blend, cultures) if code else {}
    found = []
    for one in blend.questions.values():
        own = cultures.countries[one.country]
        language = code or (own.language if local else ENGLISH)
        text = one.local_text if local and language == own.language else texts.get(one.source_id) if code else one.text
        if code and language != own.language:
            text = text and own.names.get(code) and text.replace(_GAP, own.names[code])
        if not language or not text:
            told[f"no text in {language}" if language else f"the language of {one.country} is not known"] += 1
            continue
        found.append(placed(_of_blend(one, language, text, local and language == own.language), cultures))
    for (_, reason), count in blend.excluded.items():
        told[reason] += count
    lines = _told(
        f"BLEnD: of {sum(blend.asked.values())} questions about {len(blend.asked)} cultures {len(found)} stay", told
    )
    name = f"blend-{code}" if code else "blend-local" if local else "blend"
    return Opened(name, folder, found, cultures, (*lines, *_remarks(blend.left_out)))


def _texts_in(code: str, blend: Blend, cultures: Cultures) -> dict[str, str]:
    """The questions that a culture of this language was asked, with a gap for its name; the first such culture's."""
    found: dict[str, str] = {}
    for country, one in cultures.countries.items():
        name = one.names.get(code)
        for (source_id, about), question in blend.answered.items():
            if name and one.language == code and about == country and name in question.local_text:
                found.setdefault(source_id, question.local_text.replace(name, _GAP))
    return found


def open_sheets(folder: Path, cultures: Cultures) -> Opened:
    """The study's multiple-choice sheets as open questions: each question and target once; the right option answers."""
    from polyculture.instruments.cultures.blend import NUMERIC, asks_for_number
    from polyculture.instruments.questions.loaders.culturescope import rows as culture_rows
    from polyculture.sources.files import read_file
    from polyculture.sources.left_out import LeftOut
    from polyculture.sources.record import BadRow
    from polyculture.sources.rows import row_place

    found: dict[tuple[str, str], OpenQuestion] = {}
    left_out: list[LeftOut] = []
    told: Counter[str] = Counter()
    read = 0
    for file in sorted(folder.rglob("*.csv")):
        for row in culture_rows(read_file(file), file):
            if isinstance(row, BadRow):
                place = row_place(file.relative_to(folder).as_posix(), row.row)
                left_out.append(LeftOut(place, f"left out: {row.reason}", row.value))
                continue
            read += 1
            text, gold = row.values["prompt"], row.values["options"][row.values["right"]]
            key = row.values["ID"], row.values["country"]
            if asks_for_number(text):
                told[NUMERIC] += 1
            elif key in found:
                told["the same question and target in another sheet"] += 1
            else:
                answers = (HumanAnswer((gold,), None),) if gold else ()
                found[key] = placed(OpenQuestion(*key, ENGLISH, text, None, answers=answers), cultures)
    if not found:
        why = f": {left_out[0].place}: {left_out[0].reason}" if left_out else ": no sheet *.csv"
        remedy = "Name the folder of the study's sheets, mcq_hard-negatives: see docs/question-sets.md."
        raise DataSetError(f"holds no question that can be used{why}", where=folder, remedy=remedy)
    lines = _told(f"culturescope: of {read} rows {len(found)} open questions stay", told)
    return Opened("culturescope", folder, list(found.values()), cultures, (*lines, *_remarks(left_out)))


def _of_blend(one: BlendQuestion, language: str, text: str, local: bool) -> OpenQuestion:
    answers = tuple(
        HumanAnswer((answer.local if local else ()) or answer.spellings, answer.votes) for answer in one.answers
    )
    return OpenQuestion(one.source_id, one.country, language, text, one.topic, answers=answers)


def placed(one: OpenQuestion, cultures: Cultures) -> OpenQuestion:
    """The question with its culture's region, level and neighbours, where these are known."""
    found = cultures.country(one.culture)
    if found is None:
        return one
    near = [name for name, other in cultures.countries.items() if other.region == found.region and other != found]
    return replace(one, region=found.region, level=found.level, neighbours=tuple(near))


def _told(head: str, reasons: Counter[str]) -> tuple[str]:
    return (head + "".join(f"; {reason}: {count}" for reason, count in reasons.most_common()),)


def _remarks(left_out: Sequence[LeftOut]) -> tuple[str, ...]:
    if not left_out:
        return ()
    some = "; ".join(f"{one.place}: {one.reason}" for one in left_out[:_NAMED])
    more = len(left_out) - _NAMED
    return (f"{len(left_out)} remarks: {some}" + (f"; and {more} more" if more > 0 else ""),)

"""What a run asked otherwise than the paper, of each measure: by the options that the run keeps of its commands.

A run keeps no more than that. Weights, quantisation and the server's own settings it cannot know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from polyculture.cache.store.manifest import Manifest, read_manifest
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema.measured import EVERY
from polyculture.instruments import INSTRUMENTS
from polyculture.instruments.datasets.load import ANY
from polyculture.instruments.datasets.presets import PaperPart, PaperPreset
from polyculture.instruments.papers.options import DATA_PARTS, protocol_values
from polyculture.instruments.questions.asking import GENERATED, METHODS
from polyculture.instruments.questions.layout import ATTENTION
from polyculture.metrics.limits import limits
from polyculture.published.cells import NONE

if TYPE_CHECKING:
    from polyculture.instruments.papers.own import OwnNumber

SAME = "same protocol"
UNKNOWN = "how it was asked is not recorded"
COMMANDS = dict.fromkeys(("questions", ATTENTION), "ask")  # of measures that no command is called after
_TEXTS = ("entities", "linking", "texts")
# What a user gives in place of our own words.
_ANSWERERS = {"sentiment": ("classifier", "prompts"), "ner": ("tagger", "prompts"), "probe": ("inspection",)}
# They choose no protocol: whose answers, from which files.
_NO_PROTOCOL = ("model", "folder", "preset", "data", "set", "classifier", "tagger", "concepts")
# The tables compute a Cultural Bias Score as the paper does, from what is stored of each token.
_OF_TABLES = ("rule", "average")
# How much is asked: what earlier commands asked besides stays. Other options put other numbers in their place.
_AMOUNT = ("language", "culture", "type", "setting", "contexts", "entities", "draws", "units", "model",
           "folder", "preset", "help_with", "form", "phrasings", *_OF_TABLES)  # fmt: skip
_ENGLISH = "english"


class AskedProtocol:
    """What a run asked, beside what a paper asks."""

    def __init__(self, run: RunFolder, name: str, preset: PaperPreset, data: str | None) -> None:
        self._name, self._preset, self._data = name, preset, data
        self._manifest = read_manifest(run.manifest)
        self._calls = list(_calls(run.instruments))

    def differences(self, one: OwnNumber) -> list[str]:
        """What is otherwise than the paper says, of a number's measure and data."""
        if one.measure in _TEXTS:
            sources = limits(self._manifest) if self._manifest and one.measure != "texts" else ()
            told = [*(limit.briefly for limit in sources), *([one.told] if one.told else [])]
            return [*_of_texts(self._preset, self._manifest), *told]
        command = COMMANDS.get(one.measure, one.measure)
        english = one.language == "en" and command in ("cbs", "sentiment", "qa", "ner")
        parts = [each for each in self._preset.parts if self._is_of(each, command, one, english=english)]
        if not parts:
            return [f"not asked by `polyculture paper`: {command} of {one.dataset}"]
        found = [
            min((self._told(part, call, one) for part in parts for call in alike), key=len)
            for alike in _standing(list(self._asked(command, one, english=english)), one)
        ]
        size = next((part.size for part in parts if part.size and _is_whole(part, one)), None)
        sizes = (
            [f"{one.questions:,} questions of the set, {size:,} by the counts that the paper prints"]
            if size and one.questions not in (None, size) and one.topic in (EVERY, NONE)
            else []
        )
        if not found:
            return [UNKNOWN, *sizes]
        data = [f"data set {self._data}"] if self._data else []
        if "ours" in one.variant.split(", "):
            data.append("read by our reader, not the publisher's")
        if (one.measure, one.variant) == ("probe", "none"):
            data.append("items are not filtered (4.1, step 3): they need an encoder")
        if one.told:
            data.append(one.told)
        return [*data, *dict.fromkeys(line for lines in found for line in lines), *sizes]

    def _told(self, part: PaperPart, asked: Mapping[str, Any], one: OwnNumber) -> list[str]:
        """What a call has otherwise than a part, in its way to ask and in its options."""
        given = any(asked.get(name) for name in _ANSWERERS.get(part.command, ("prompts",)))
        own = [part.differs] if part.differs and not given else []
        return [*own, *self._compared(part, asked, one)]

    def _is_of(self, part: PaperPart, command: str, one: OwnNumber, *, english: bool) -> bool:
        values = {name: choice.value for name, choice in part.options.items()}
        return part.command == command and _about(values, one) and bool(values.get(_ENGLISH)) == english

    def _asked(self, command: str, one: OwnNumber, *, english: bool) -> Iterator[Mapping[str, Any]]:
        for name, values in self._calls:
            about = {**values, "data": self._preset.data} if values.get("data") == self._data else values
            of_model = values.get("model") in (None, one.model)
            of_language = one.language in (*(values.get("language") or (one.language,)), EVERY)
            if (
                of_model
                and of_language
                and name == command
                and _about(about, one)
                and (name not in DATA_PARTS or _reaches(values, one))
                and bool(values.get(_ENGLISH)) == english
            ):
                yield values

    def _compared(self, part: PaperPart, asked: Mapping[str, Any], one: OwnNumber) -> Iterator[str]:
        """The options of a call that are not the paper's."""
        entry = next(entry for entry in INSTRUMENTS if part.command in entry.lines)
        options = entry.commands[part.command].options
        wanted = options.model_validate(protocol_values(self._name, part)).model_dump(mode="json")
        for option, value in wanted.items():
            now = asked.get(option, value)
            if option == "method" and not now:  # a set is asked as its kind is; those of papers are choices
                now = list(METHODS["choice"][:1])
            if option in (*_NO_PROTOCOL, *_OF_TABLES) or now == value:
                continue
            if option == "form" and value == "model":
                if one.variant == one.form in ("causal", "masked"):  # else it is the model's own, whoever chose it
                    yield f"form {one.form}, not {'masked' if one.form == 'causal' else 'causal'}"
                continue
            if option == "prompts" and value is None:
                yield "prompts of your own"
                continue
            told = option.replace("_", " ")
            if isinstance(value, list) and isinstance(now, list) and now and set(now) < set(value):
                yield f"{told} without {_words([word for word in value if word not in now])}"
                continue
            yield (
                f"only {told} {_words(now)}" if value in (None, []) else f"{told} {_words(now)}, not {_words(value)}"
            )


def _calls(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The commands that a run asked with their options, the parts of others among them, in the order of asking."""
    if file.is_file():
        for name, values in orjson.loads(file.read_bytes()).items():
            yield values.get("command", name), values.get("options", values)


def _about(values: Mapping[str, Any], one: OwnNumber) -> bool:
    """Whether options ask the data that a number is of."""
    if "set" in values:
        methods = set(values.get("method") or (GENERATED,))
        if ATTENTION not in methods if one.measure == ATTENTION else methods == {ATTENTION}:
            return False
        asked = {name.strip().replace(":", "-") for name in str(values["set"]).split(",")}
        return not asked.isdisjoint((one.dataset, f"{one.dataset}-{one.language}"))  # 'blend:es' is of BLEnD, too
    data = values.get("data", one.dataset)
    return one.dataset in (data, "-") or data is None


def _is_whole(part: PaperPart, one: OwnNumber) -> bool:
    """Whether a number is of all questions of a part, which may itself be of one label."""
    label = one.facets.get("label")
    return label is None or ("only" in part.options and f"label={label}" in part.options["only"].value)


def _reaches(values: Mapping[str, Any], one: OwnNumber) -> bool:
    """Whether options ask the part of the data that a number is of; a number over several parts is of each."""
    facets = {"culture": one.culture, "type": one.topic, "setting": one.condition}
    for option, place in facets.items():
        chosen = values.get(option)
        if chosen and place not in (EVERY, NONE) and set(place.split(", ")).isdisjoint(chosen):
            return False
    if bool(values.get("phrasings")) != bool(one.facets.get("phrasing")):
        return False
    prefix = one.facets.get("context_prefix")
    if prefix and prefix.split()[-1] not in values.get("help_with", (prefix,)):  # '5 names' says how many, too
        return False
    form = values.get("form")
    return form is None or one.form in ("", ANY, form) or (form == "model" and not one.variant)


def _standing(calls: Sequence[Mapping[str, Any]], one: OwnNumber) -> list[list[Mapping[str, Any]]]:
    """The calls that a number rests on, those together that differ in how much they ask alone.

    The last one, and where it asks some types of a number over all types, those before it that ask others.
    """
    found: list[list[Mapping[str, Any]]] = []
    types: set[str] | None = set()  # that stand already; None: all
    for call in reversed(calls):
        way = _way(call)
        alike = next((some for some in found if _way(some[0]) == way), None)
        chosen = set(call.get("type") or ())
        if alike is not None:
            alike.append(call)
        elif not found or (types is not None and (not chosen or chosen - types)):
            found.append([call])
        types = types | chosen if types is not None and chosen and one.topic == EVERY else None
    return found


def _way(call: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in call.items() if name not in _AMOUNT}


def _of_texts(preset: PaperPreset, manifest: Manifest | None) -> Iterator[str]:
    """How far a run's texts are from the paper's; its extraction and links are always its own."""
    if manifest is None:
        return
    wanted = {key: choice.value for key, choice in preset.experiment.items()}
    for name in ("languages", "topics", "countries", "conditions") if wanted else ():
        there, every = set(getattr(manifest, name)), set(wanted[name])
        if there != every:
            yield f"{len(there & every)} of {len(every)} {name}" + (
                f", {len(there - every)} others" if there - every else ""
            )
    for name in ("n", "temperature", "top_p", "top_k"):
        value = wanted.get(f"sampling.{name}")
        now = manifest.n if name == "n" else manifest.sampling.get(name)
        if value is not None and now not in (None, value):
            yield f"{name} {now}, not {value}"
    if not manifest.sampling:
        yield "sampling is not recorded"
    yield "prompts, extraction, links and snapshot are this run's"


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)

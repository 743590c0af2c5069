"""Everything that is measured on the same models besides generated text: an instrument is a folder, and a line here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from polyculture.cache.store.layout import Layout

if TYPE_CHECKING:
    from polyculture.instruments.contract import Command
    from polyculture.reports.section import Section


@dataclass(frozen=True)
class Entry:
    """An instrument by name; its parts are modules of its folder. No command must load all of them.

    A small one declares its layout beside its commands.
    """

    name: str
    lines: Mapping[str, str]  # command -> its line in the list of commands
    group: str = ""  # of the command line, that the commands are in; the one of its name is what the group does itself

    @property
    def commands(self) -> Mapping[str, Command[Any]]:
        """What it asks: `COMMANDS` in `instrument`."""
        found: Mapping[str, Command[Any]] = self._declared("instrument", "COMMANDS", {})
        return found

    @property
    def layout(self) -> Layout:
        """Its tables and views, with those of others that it reads: `LAYOUT` in `layout`, if it has any."""
        small: Layout = self._declared("instrument", "LAYOUT", Layout())
        found: Layout = self._declared("layout", "LAYOUT", small)
        return found

    @property
    def sections(self) -> Sequence[Section]:
        """Its sections of the report: `SECTIONS` in `section`, if it has any."""
        found: Sequence[Section] = self._declared("section", "SECTIONS", ())
        return found

    def _declared(self, module: str, name: str, otherwise: Any) -> Any:
        place = f"polyculture.instruments.{self.name}.{module}"
        return getattr(import_module(place), name, otherwise) if find_spec(place) is not None else otherwise


INSTRUMENTS: tuple[Entry, ...] = (
    Entry("cbs", {"cbs": "How probable native and Western entities are in context."}),
    Entry("corpus", {"corpus": "The same of a text corpus, by a 4-gram model of it."}, group="corpus"),
    Entry(
        "swaps",
        {
            "sentiment": "The sentiment of texts with native and with Western entities.",
            "qa": "Whether a model finds the entity in a text.",
            "ner": "Whether a model tags the entity in a text.",
        },
        group="swap",
    ),
    Entry("questions", {"ask": "Any set of questions: choices, sentence pairs, gaps, open ones."}),
    Entry(
        "papers",
        {"paper": "What a paper measured, and its tables with your models in them."},
    ),
    Entry(
        "probe",
        {"probe": "What a model's layers hold of cultures, and how far one leans on another."},
        group="probe",
    ),
    Entry("embeddings", {"embeddings": "How far apart a model holds the entities of two cultures."}, group="probe"),
    Entry("tokens", {"tokens": "How much of a model's vocabulary is a language's own."}, group="probe"),
)


def command_line(command: str) -> str:
    """How an instrument's command is called: 'polyculture swap sentiment'."""
    group = next((entry.group for entry in INSTRUMENTS if command in entry.lines), "")
    return f"polyculture {command}" if group in ("", command) else f"polyculture {group} {command}"

"""Everything that is measured on the same models besides generated text: an instrument is a folder, and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyculture.cache.layout import Layout
    from polyculture.instruments.contract import Instrument


@dataclass(frozen=True)
class Entry:
    """An instrument by name: its module is imported when it is needed, since commands must start fast."""

    name: str
    commands: Mapping[str, str]  # command -> its line in the list of commands
    group: str = (
        ""  # of the command line, that the commands are in; the one of its name is what the group does by itself
    )

    @property
    def layout(self) -> Layout:
        """Its tables and views, with those of others that it reads: `LAYOUT` in its module `layout`, beside its options
        and steps, which a query does not need. An instrument without that module has tables of others alone.
        """
        from importlib import import_module
        from importlib.util import find_spec

        from polyculture.cache.layout import Layout

        place = f"polyculture.instruments.{self.name}.layout"
        found: Layout = import_module(place).LAYOUT if find_spec(place) is not None else Layout()
        return found

    def load(self) -> Instrument:
        """The instrument: `INSTRUMENT` in `polyculture.instruments.<name>.instrument`."""
        from importlib import import_module

        found: Instrument = import_module(f"polyculture.instruments.{self.name}.instrument").INSTRUMENT
        return found


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
        {
            "probe": "What a model's layers hold of cultures, and how far one leans on another.",
            "attention": "How much a model attends to each option of a question.",
        },
        group="probe",
    ),
    Entry("embeddings", {"embeddings": "How far apart a model holds the entities of two cultures."}, group="probe"),
    Entry("tokens", {"tokens": "How much of a model's vocabulary is a language's own."}, group="probe"),
)


def command_line(command: str) -> str:
    """How an instrument's command is called: 'polyculture swap sentiment'."""
    group = next((entry.group for entry in INSTRUMENTS if command in entry.commands), "")
    return f"polyculture {command}" if group in ("", command) else f"polyculture {group} {command}"

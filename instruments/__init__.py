"""Everything that is measured on the same models besides generated text: an instrument is a folder, and a line here."""

from __future__ import annotations

from polyculture.instruments.contract import Entry

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

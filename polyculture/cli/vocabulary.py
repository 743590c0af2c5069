"""What the tokenizers of an experiment's models have for languages, as rows for people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polyculture.instruments.tokens
from polyculture.console import say
from polyculture.experiment.workspace import Workspace

COLUMNS = ("model", "language", "tokens", "own", "share", "parts of letters")
ENTITIES = Path(polyculture.instruments.tokens.__file__).with_name("table.sql")


def choose_languages(asked: Sequence[str] | None) -> list[str]:
    """Those of the languages that can be told by how they are written, or else all such; of the others a line says so.

    Raises `CatalogError` where none of those that were asked for can be told.
    """
    from polyculture.instruments.tokens.vocabulary import writing_of, writings

    if not asked:
        return sorted(writings())
    untold = [language for language in asked if language not in writings()]
    if len(untold) == len(asked):
        writing_of(untold[0])  # raises
    for language in untold:
        say(f"{language}: cannot be told from other languages by how it is written; left out")
    return [language for language in asked if language in writings()]


def vocabulary_rows(workspace: Workspace, models: Sequence[str], languages: Sequence[str]) -> list[tuple[Any, ...]]:
    """A row per model and language. Raises `EngineError` of a model whose tokenizer is not published with it."""
    from polyculture.generate.engines import TOKENIZING, open_engine
    from polyculture.instruments.tokens.vocabulary import vocabulary_shares

    rows: list[tuple[Any, ...]] = []
    for model in models:
        with open_engine(workspace.experiment.model_spec(model), TOKENIZING) as tokenizer:
            shares = vocabulary_shares(tokenizer.vocabulary(), languages)
        rows += [(model, s.language, s.tokens, s.own, s.share, s.partial) for s in shares]
    return rows


def print_entity_tokens(workspace: Workspace) -> None:
    """Prints tokens per entity beside the scores, where `polyculture cbs` has made some."""
    from polyculture.cache.store import open_store
    from polyculture.cli.tables import print_table
    from polyculture.running.layout import store_layout

    query, rows = ENTITIES.read_text(encoding="utf-8"), []
    if workspace.run.manifest.is_file():
        with open_store(workspace.run, store_layout()) as store:
            found = store.execute(query)
            columns, rows = [column[0] for column in found.description or []], found.fetchall()
    if rows:
        print_table(columns, rows, title="Tokens per entity, and Cultural Bias Score")
    else:
        say("tokens per entity: nothing is scored yet; see polyculture cbs")

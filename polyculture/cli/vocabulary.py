"""What the tokenizers of an experiment's models have for languages, as rows for people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polyculture.instruments.tokens
from polyculture.cache.errors import EngineError
from polyculture.console import say
from polyculture.experiment.workspace import Workspace

COLUMNS = ("model", "language", "tokens", "own", "share", "parts of letters")
ENTITIES = Path(polyculture.instruments.tokens.__file__).with_name("table.sql")
_LOCAL = ("transformers", "vllm", "llamacpp")  # engines whose models name a tokenizer that can be opened


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
    from polyculture.generate.engines import ModelSpec
    from polyculture.generate.engines.transformers.vocabulary import read_vocabulary
    from polyculture.instruments.tokens.vocabulary import vocabulary_shares

    rows: list[tuple[Any, ...]] = []
    for model in models:
        engine, _, name = model.partition(":")
        if engine not in _LOCAL:
            remedy = "Name the same model as 'transformers:...', or leave it out with --model."
            raise EngineError("does not tell its vocabulary", where=model, remedy=remedy)
        options = workspace.experiment.model_spec(model).options if engine == "transformers" else {}
        shares = vocabulary_shares(read_vocabulary(ModelSpec(f"transformers:{name}", options)), languages)
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

"""The page of lists: servers and what they take, kinds of faults, and the prompts of each language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polyculture.cache.catalog import read_catalog
from polyculture.cache.work.faults import FaultKind, fault_table
from polyculture.generate.design import known_wordings
from polyculture.generate.engines.openai.servers import known_servers
from polyculture.generate.wording import read_wording, with_plain

HEAD = """# Lists

`make docs` writes this page from the files that the program reads: `generate/engines/openai/servers.toml`,
`cache/work/faults.toml` and `generate/wording/`.
"""
SERVERS = """## What servers take

A preset, such as `server = "ollama"` under `[options.openai]`, leaves out the fields that a server rejects or ignores.
*Read* says when somebody last read the source; "from memory" marks what no page that we could read says.
"""
FAULTS = """## Kinds of faults

The server's error code decides first, in the order of this table; then the HTTP status, with the words of the message
where the file names some. *Then* says what a request does in the same run: it stops, is retried once, or waits until
the service answers again. A *final* row is settled; all other rows are asked again by the next run.
"""
PROMPTS = """## Prompts

The wording `write` of every language and topic, or `plain` where a language has no other, each with its English
back-translation. A language model wrote and
read them; no native speaker has reviewed them. `polyculture prompts review --html LANGUAGE -o PAGE` writes a
page on which a native speaker judges them, with their English.
"""


def page() -> str:
    faults = fault_table()
    levels = _table(
        ("what ends", "because", "then"), [(one["ends"], one["because"], one["then"]) for one in faults.levels]
    )
    kinds = _table(("kind", "known by", "then", "row", "the model or its server"), map(_kind, faults.kinds))
    parts = [HEAD, SERVERS, _servers(), FAULTS, levels, kinds, PROMPTS, *_prompts()]
    return "\n".join(parts)


def _servers() -> str:
    head = ("`server`", "what it is", "address", "key", "rejects", "ignores", "form of answers", "note")
    rows = []
    for name, one in known_servers().items():
        sources = " ".join(f"<{source}>" for source in one.source)
        note = f"{one.note + ' ' if one.note else ''}Read {one.read}: {sources}"
        key = f"`{one.key}`" if one.key else "none"
        fields = (_codes(one.rejects), _codes(one.ignores))
        rows.append((f"`{name}`", one.title, f"`{one.base_url}`", key, *fields, one.schema_form, note))
    return _table(head, rows)


def _kind(kind: FaultKind) -> tuple[str, ...]:
    words = "with words" if kind.words and kind.statuses else "words" if kind.words else ""
    known = [_codes(kind.codes), " ".join(map(str, kind.statuses)), words]
    row = "final" if kind.final else "asked again"
    return (kind.name, "; ".join(filter(None, known)) or "all others", kind.then, row, kind.says)


def _prompts() -> Iterator[str]:
    catalog = read_catalog()
    for language in catalog.languages.values():
        wording = read_wording(language)
        rows = []
        for topic in catalog.topics.values():
            named = {one.name: one for one in with_plain(topic, language, wording)}
            first = next(named[name] for name in known_wordings() if name in named)
            for condition, template in first.templates.items():
                rows.append((topic.code, condition, template.text, template.gloss or ""))
        yield f"### {language.name}\n"
        yield _table(("topic", "condition", "prompt", "in English"), rows)


def _codes(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]] | Iterator[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(
        f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in row)} |\n" for row in lines
    )

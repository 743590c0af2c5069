"""What of a run is nobody else's business: addresses of servers, paths of this machine, keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from polyculture.cache.store.manifest import Manifest
from polyculture.cache.text.sanitize import conceal

ADDRESS, PATH = "(address left out)", "(path left out)"
# Services that everybody reaches at the same address: which of them answered is a part of the method.
PUBLIC_HOSTS = frozenset({"api.openai.com", "www.wikidata.org", "query.wikidata.org"})
# Columns that machines fill: errors of servers, options, notes. Texts of models stay as they are.
MACHINE_COLUMNS = frozenset({"error", "note", "reason", "rejected", "setup"})
# In RE2's syntax and Python's: an address; a path with two parts at least, in no word.
_ADDRESS = r"[a-zA-Z][a-zA-Z0-9+.-]*://[^\s\"'<>]+"
_PATH = r"(^|[\s\"'(=:,\[])(?:~|[A-Za-z]:)?(?:[/\\]+[^\s/\\\"'<>:,]+){2,}"


@dataclass(frozen=True)
class Redaction:
    """What takes the place of what, in all columns; and patterns for the columns of machines."""

    words: Mapping[str, str]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The words to replace and their replacements; the longest first, since one may hold another."""
        return sorted(self.words.items(), key=lambda pair: (-len(pair[0]), pair))

    @property
    def patterns(self) -> list[tuple[str, str]]:
        """The same as regular expressions, with the replacement in the form `\\1`."""
        return [(_ADDRESS, ADDRESS), (_PATH, rf"\1{PATH}")]

    def plain(self, value: Any) -> Any:
        """Nested values of the manifest without all of that."""
        if isinstance(value, Mapping):
            return {self.plain(key): self.plain(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.plain(one) for one in value]
        if not isinstance(value, str):
            return value
        for word, instead in self.pairs:
            value = value.replace(word, instead)
        if not _is_public(value):
            for pattern, instead in self.patterns:
                value = re.sub(pattern, instead, value)
        return conceal(value)


def redaction_of(manifest: Manifest, own: Path) -> Redaction:
    """What must not leave this machine with a run: its own folder, addresses and paths in its setups, models' files.

    A model that is named by a path keeps the file's name.
    """
    words = {str(own): PATH, str(own.resolve()): PATH}
    for text in _strings(manifest.model_dump()):
        engine, _, name = text.partition(":")
        path = name if engine.replace("-", "").isalnum() and not name.startswith("//") and _is_path(name) else text
        if _is_path(path):
            words[path] = _file_name(path, words.values())
        elif re.fullmatch(_ADDRESS, text) and not _is_public(text):
            words[text] = ADDRESS
            words[urlsplit(text).netloc] = ADDRESS
    return Redaction(words)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _strings(key)
            yield from _strings(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _strings(one)


def _is_path(text: str) -> bool:
    return "\n" not in text and len(text) > 3 and re.match(r"(?:~|[A-Za-z]:)?[/\\]\S", text) is not None


def _is_public(text: str) -> bool:
    return bool(re.fullmatch(_ADDRESS, text)) and urlsplit(text).hostname in PUBLIC_HOSTS


def _file_name(path: str, taken: Any) -> str:
    """The last part of a path; with a number where another path has the same."""
    name, used = re.split(r"[/\\]", path.rstrip("/\\"))[-1], set(taken)
    numbered = (f"{name} ({number})" for number in range(2, 10_000))
    return name if name not in used else next(one for one in numbered if one not in used)

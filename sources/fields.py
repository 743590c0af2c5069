"""A field of a row: fixed for all rows, said by the file's path, or in a column; in the words of its data set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from polyculture.sources.rules import FileRules, Skip
from polyculture.sources.values import RowError, SourceRow, number_of, spelling, tidy

Spellings = Mapping[str, Mapping[str, str]]  # of a rules file: `SourceRules.words`


class FieldWords:
    """A publisher's words for the values of fields, and which of them its files have."""

    def __init__(self, words: Spellings) -> None:
        self._words = words
        self._met: set[tuple[str, str]] = set()

    def ours(self, name: str, text: str) -> str:
        """What a field says, in the words of the rules where they have some for it."""
        known = self._words.get(name)
        if known is None:
            return text
        word = spelling(text)
        if word not in known:
            return text
        self._met.add((name, word))
        return known[word]

    def unmet(self) -> Iterator[tuple[str, list[str]]]:
        """The fields some of whose words no file has, with these words."""
        for name, words in self._words.items():
            if unmet := [word for word in words if (name, word) not in self._met]:
                yield name, unmet


def field_text(
    row: SourceRow, block: FileRules, name: str, words: FieldWords, *, whole: bool = False, optional: bool = False
) -> str:
    """The text of a field: fixed, or of its column, or, where that is empty, what the path of the file says; '' where
    nothing says it. `whole` keeps the blanks within it.

    Raises `RowError` where there is no such column and it is not `optional`.
    """
    if name in block.fixed:
        return block.fixed[name]
    rule = getattr(block, name)
    text = "" if rule is None else row.text(rule, whole=whole, optional=optional)
    return words.ours(name, text or row.of_path.get(name, ""))


def filled(text: str, row: SourceRow, replace: Mapping[str, str]) -> str:
    """A text with its placeholders replaced, by a text or by what the row's columns say; where one is left out, its
    blanks are, too. Raises `RowError` where a column is missing or empty."""
    removed = False
    for placeholder, template in replace.items():
        if placeholder in text:
            said = row.text(template) if "{" in template else template
            if template and not said:
                raise RowError(f"{template} is empty, which takes the place of {placeholder}")
            removed = removed or not template
            text = text.replace(placeholder, said)
    return tidy(text) if removed else text


def is_skipped(row: SourceRow, skip: Skip) -> bool:
    """Whether a row is left out. Raises `RowError` where there is no such column."""
    values = [row.get(column) if row.has(column) else row.text(column) for column in skip.column]
    texts = ["" if value is None else tidy(str(value)) for value in values]
    if skip.at_least is not None:
        return sum(map(number_of, skip.column, texts)) >= skip.at_least
    if skip.empty:
        return all(value in ([], {}) or not text for value, text in zip(values, texts, strict=True))
    return any(text in skip.value or (skip.contains and skip.contains in text) for text in texts)

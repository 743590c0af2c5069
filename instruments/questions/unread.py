"""Answers that pick no option as they are read: where these are many, or more in one language than in another."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyculture.cache.store.layout import compose
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.store import open_store
from polyculture.instruments.questions.layout import LAYOUT
from polyculture.sources.record import shown

UNREAD = Path(__file__).with_name("question_unread.sql")


def unread_lines(run: RunFolder, sets: Sequence[str]) -> list[str]:
    """A warning per model, set, prompt and reader where half of the answers pick no option, with three of them; and one
    per model, set and reader where languages differ in how many answers are unread."""
    query = UNREAD.read_text(encoding="utf-8")
    with open_store(run, compose(CORE, LAYOUT)) as store:
        found = store.sql(query)
        rows = [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]
    rows = [row for row in rows if row["dataset"] in sets]
    half = [
        f"{row['lost']:,} of {row['answered']:,} answers of {row['model']} to {row['dataset']}, prompt "
        f"{row['prompt']}, pick no option as {row['reader']!r} reads them ({_counted(row['reasons'])}), for example "
        f"{', '.join(repr(shown(text)) if text else '(empty)' for text in row['texts'])}"
        for row in rows
        if 2 * row["lost"] >= row["answered"]
    ]
    return [*half, *(f"{one.title}: {one.shares}. {UNEQUAL}" for one in unread_by_language(rows))]


UNEQUAL = "Differences between these languages may be differences in reading, not in what the model answers"
_APART = 0.05  # between the shares of two languages: from here on they are said to differ
_CERTAIN = 0.01  # the p-value of equal shares, under which they are said to differ


@dataclass(frozen=True, slots=True)
class UnreadLanguages:
    """The shares of a model's answers to a set that a reader cannot read, where languages differ."""

    model: str
    dataset: str
    reader: str
    by_language: Mapping[str, float]  # language -> share, the highest first

    @property
    def title(self) -> str:
        return f"answers of {self.model} to {self.dataset} that {self.reader!r} cannot read, by language"

    @property
    def shares(self) -> str:
        """'es 100 %, en 0 %'"""
        return ", ".join(f"{language} {round(100 * share)} %" for language, share in self.by_language.items())


def unread_by_language(rows: Iterable[Mapping[str, Any]]) -> list[UnreadLanguages]:
    """Where languages differ in how many answers are unread, from the rows of `question_unread.sql`.

    They differ by five points or more, and by more than chance allows (chi-squared).
    """
    counts: defaultdict[tuple[str, str, str, str], dict[str, list[int]]] = defaultdict(dict)
    for row in rows:
        key = (row["model"], row["dataset"], row["method"], row["reader"])
        of_language = counts[key].setdefault(row["language"], [0, 0])
        of_language[0] += row["unread"]
        of_language[1] += row["answered"] - row["unread"]
    found = []
    for (model, dataset, _, reader), languages in counts.items():
        shares = {language: unread / (unread + read) for language, (unread, read) in languages.items()}
        if len(shares) > 1 and max(shares.values()) - min(shares.values()) >= _APART and _differ(languages.values()):
            ordered = dict(sorted(shares.items(), key=lambda one: (-one[1], one[0])))
            found.append(UnreadLanguages(model, dataset, reader, ordered))
    return found


def _differ(counts: Iterable[Sequence[int]]) -> bool:
    from scipy import stats  # here: reading answers needs it nowhere else

    return float(stats.chi2_contingency(list(counts)).pvalue) < _CERTAIN


def _counted(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {reason}" for reason, number in Counter(reasons).most_common())

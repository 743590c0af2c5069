"""The pages over a live store: search, an item, responses, judging, SQL. Templates escape every value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from polyculture.cache.errors import StoreError
from polyculture.cache.store.layout import Layout
from polyculture.reports.names import Names
from polyculture.reports.view.judging import Judging
from polyculture.reports.view.live import PageStore

FOLDER = Path(__file__).parent
AXES = ("model", "language", "topic", "condition", "country")
SIDES = ("a", "b")  # the two models that are shown side by side
SAMPLES = 10  # of each of them
FOUND = 200  # rows of a search
SIZE = 20  # responses on a page
ROWS = 1_000  # of a reader's own question
LONGEST = 2_000  # characters of a cell
NAMED = 30  # codes in a line that says which ones there are
LONGEST_NAME = 80  # of a search for which names like it are looked for

Asked = Mapping[str, str]


class NotInRunError(StoreError):
    """An address names a model, a language, a topic, ... that the run has not."""


class Pages:
    """Each method takes what was asked and returns a page, errors included. Addresses begin with `base`."""

    def __init__(self, store: PageStore, experiment: str, names: Names, base: str) -> None:
        self._store, self._names, self._base = store, names, base
        self._judging = Judging(store)
        loader = FileSystemLoader([FOLDER / "templates", FOLDER.parent / "templates"])
        self._environment = Environment(
            loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        self._environment.globals.update(experiment=experiment, names=names, axes=AXES, base=base)

    @property
    def layout(self) -> Layout:
        """The tables and views of the store."""
        return self._store.layout

    def interrupt(self) -> None:
        """Stops the queries of all pages."""
        self._store.interrupt()

    def search(self, asked: Asked) -> str:
        """An overview of the run, or the results of a search."""
        needle = asked.get("q", "").strip()
        found = self._store.ask("search", FOUND, needle=needle) if needle else None
        near = self._near(needle) if found is not None and not found.rows else []
        standing = None if needle else self._store.told("standing")  # it reads every mention
        return self._page("search", needle=needle, found=found, standing=standing, near=near)

    def _near(self, needle: str) -> list[str]:
        """Names like one that nothing was found for."""
        if len(needle) > LONGEST_NAME:
            return []
        return [str(row["name"]) for row in self._store.ask("near", needle=needle).records()]

    def item(self, qid: str) -> str:
        """An item, and how often each model mentions it in each language."""
        facts = self._store.ask("item", qid=qid).records()
        places = self._store.ask("places", 10_000, qid=qid).records()
        counts = {(place["model"], place["language"]): place["mentions"] for place in places}
        models = list(dict.fromkeys(place["model"] for place in places))
        languages = sorted({place["language"] for place in places})
        shown = {"counts": counts, "models": models, "languages": languages}
        return self._page("item", qid=qid, item=facts[0] if facts else None, **shown)

    def responses(self, asked: Asked) -> str:
        """Responses that meet the filters, with the searched item or surface marked."""
        filters = {name: asked.get(name, "") for name in ("qid", "surface", *AXES)}
        page, choices = page_number(asked), self._choices(asked)
        found = self._store.ask("responses", SIZE + 1, **filters, size=SIZE, skipped=(page - 1) * SIZE).records()
        for row in found:
            row["pieces"] = pieces(row["text"] or "", row["marks"] or ())
        shown = {"found": found[:SIZE], "more": len(found) > SIZE, "page": page, "choices": choices}
        return self._page("responses", filters=filters, **shown)

    def side_by_side(self, asked: Asked) -> str:
        """The answers of two models to the same prompt, a prompt on each page, and what only one of them names.

        A request that failed has its error in place of an answer.
        """
        page, choices = page_number(asked), self._choices(asked)
        models = [*choices["model"][:2], "", ""]
        filters = {side: asked.get(side) or models[number] for number, side in enumerate(SIDES)}
        filters |= {axis: asked.get(axis, "") for axis in AXES[1:]}
        found = self._store.ask("side_by_side", 2 * SAMPLES, **filters, size=SAMPLES, skipped=page - 1).records()
        for row in found:
            row["pieces"] = pieces(row["text"] or "", row["marks"] or ())
        by_model = {model: [row for row in found if row["model"] == model] for model in (filters["a"], filters["b"])}
        sides = [{"model": model, "rows": rows} for model, rows in by_model.items() if rows]
        shown = {"sides": sides, "prompt": found[0] if found else None, "named": self._named(by_model), "page": page}
        return self._page("side_by_side", filters=filters, choices=choices, longest=NAMED, **shown)

    def _named(self, by_model: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[tuple[str, list[str]]]:
        """The items that both of two models name, and those that only one of them does."""
        named = {model: list((rows[0]["named"] or ()) if rows else ()) for model, rows in by_model.items()}
        shared = set.intersection(*map(set, named.values()))
        both = [item for item in next(iter(named.values())) if item in shared]
        alone = [(model, [item for item in items if item not in shared]) for model, items in named.items()]
        return [("Both name", both), *((f"Only {self._names.model(model)} names", items) for model, items in alone)]

    def judge(self, asked: Asked) -> str:
        """Who judges what; with a judge, a mention or a response to judge."""
        choices = self._choices(asked)
        shown = self._judging.shown(asked)
        if "case" in shown:
            shown["pieces"] = pieces(shown["case"].text, shown["marks"])
        return self._page("judge", **{"case": None, "choices": choices, **shown})

    def _choices(self, asked: Asked) -> dict[str, Sequence[str]]:
        """What can be chosen along each axis. Raises `NotInRunError` where an address names anything else."""
        choices = {axis: codes or () for axis, codes in self._store.told("axes").records()[0].items()}
        for field in (*AXES, *SIDES):
            axis = "model" if field in SIDES else field
            if asked.get(field) and asked[field] not in choices[axis]:
                there = ", ".join(choices[axis][:NAMED])
                raise NotInRunError(f"this run has no {axis} {asked[field]!r}", remedy=f"It has {there or 'none'}.")
        return choices

    def answered(self, asked: Asked) -> str:
        """Keeps a judge's answer; returns the address of the page that is next."""
        return f"{self._base}/judge?{self._judging.answered(asked)}"

    def sql(self, asked: Asked) -> str:
        """A reader's own query with its answer or error; and the dictionary of views and columns."""
        query, answer, fault = asked.get("query", "").strip(), None, None
        if query:
            try:
                answer = self._store.question(query, ROWS, LONGEST + 1)
            except StoreError as error:
                fault = str(error)
        dictionary = self._store.ask("dictionary", 10_000).records()
        return self._page("sql", query=query, answer=answer, fault=fault, dictionary=dictionary, cell=cell, rows=ROWS)

    def fault(self, reason: str, title: str = "No answer") -> str:
        """A page that shows an error."""
        return self._page("fault", reason=reason, title=title)

    def _page(self, name: str, **values: Any) -> str:
        return self._environment.get_template(f"{name}.html.jinja").render(here=name, **values)


def page_number(asked: Asked) -> int:
    """The page that an address asks for, from 1; the first one where it asks for none that there can be."""
    number = asked.get("page", "1")
    return int(number) if number.isdecimal() and 0 < int(number) < 1_000_000 else 1


def pieces(text: str, marks: Sequence[Mapping[str, int | None]]) -> list[tuple[str, bool]]:
    """The text in pieces, each with a flag for marked; of overlapping marks the first counts."""
    found: list[tuple[str, bool]] = []
    at = 0
    for mark in marks:
        start, end = mark["start"], mark["end"]
        if start is None or end is None or start < at:
            continue
        found += [(text[at:start], False), (text[start:end], True)]
        at = end
    return [*found, (text[at:], False)]


def cell(value: Any) -> str:
    """A value as text, cut to `LONGEST` characters."""
    if value is None:
        return "–"
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"

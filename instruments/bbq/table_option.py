"""`polyculture bbq --table`: which table is listed after the answers have come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyculture.instruments.bbq.opened import Opened
    from polyculture.instruments.bbq.options import BbqOptions, TableName
    from polyculture.instruments.contract import Asked, Listing


def check_table(name: TableName, opened: Opened) -> None:
    """Raises `DataSetError` where the table is of other data sets than this one, or its file is missing."""
    from polyculture.cache.errors import DataSetError
    from polyculture.instruments.bbq import kobbq
    from polyculture.instruments.bbq.opened import templates_folder
    from polyculture.instruments.bbq.treatments import untreated

    if name in ("published", "ambiguous", "disambiguated") and opened.name != kobbq.NAME:
        remedy = f"They are of {kobbq.NAME} and its evaluation set."
        raise DataSetError(f"no figures of {opened.name!r} are published here", remedy=remedy)
    if name == "votes":
        if untreated(opened.name).split("-")[0] != kobbq.NAME:
            raise DataSetError(f"{opened.name!r} has no votes of the people", remedy=f"{kobbq.NAME} has.")
        templates_folder(opened.folder)


def listed(asked: Asked, options: BbqOptions, opened: Opened, models: Sequence[str]) -> Listing:
    """The table of what the run holds of these models."""
    from polyculture.cache.layout import compose
    from polyculture.cache.schema import CORE
    from polyculture.cache.store import open_store
    from polyculture.instruments.bbq.comparison_table import comparison_rows
    from polyculture.instruments.bbq.layout import BBQ
    from polyculture.instruments.bbq.listings import beside_published, bias_against_votes, significance_rows
    from polyculture.instruments.bbq.opened import templates_folder
    from polyculture.instruments.bbq.paired import paired_rows
    from polyculture.instruments.bbq.paper_tables import result_table
    from polyculture.instruments.bbq.treatments import untreated

    with open_store(asked.run, compose(CORE, BBQ)) as store:
        if options.table == "pairs":
            return paired_rows(store, untreated(opened.name))
        if options.table in ("ambiguous", "disambiguated"):
            return result_table(store, opened.name, models, options.table, _otherwise(options))
        if options.table == "labels":
            return comparison_rows(store, opened.name, models)
        if options.table == "tests":
            return significance_rows(store, opened.name, models)
        if options.table == "votes":
            found, lines = bias_against_votes(store, opened.name, models, templates_folder(opened.folder))
            for line in lines:
                asked.say(line)
            return found
        return beside_published(store, opened.name, models, _otherwise(options))


def _otherwise(options: BbqOptions) -> list[str]:
    """What the options have otherwise than the paper, so far as the answers do not tell."""
    from polyculture.instruments.bbq.published_scores import MAX_TOKENS, TEMPERATURE

    if options.answers:
        return ["temperature and length of answers from a file are not known"]
    if (options.temperature, options.max_tokens) != (TEMPERATURE, MAX_TOKENS):
        return [f"temperature {options.temperature:g}, {options.max_tokens} tokens"]
    return []

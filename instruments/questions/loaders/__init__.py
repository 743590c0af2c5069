"""Question sets that are made, not read: a rules file names one of `LOADERS` with `loader`, and its `[options]`.

- `culture`: what is usual in a culture, by choice (`sheets`) or openly
- `relevance`: questions of these with what a probe read out of a model before them
- `kobbq_survey`: of whom a stereotype is held, as the people behind KoBBQ were asked
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, get_args, get_type_hints

from polyculture.cache.errors import DataSetError
from polyculture.instruments.questions.loaders.culture import culture_mcq, culture_open
from polyculture.instruments.questions.loaders.kobbq_survey import kobbq_survey
from polyculture.instruments.questions.loaders.relevance import relevance
from polyculture.instruments.questions.model import QuestionSet

LOADERS: Mapping[str, Callable[..., QuestionSet]] = {  # called with folder, selection, and options by their names
    "culture-mcq": culture_mcq,
    "culture-open": culture_open,
    "relevance": relevance,
    "kobbq-survey": kobbq_survey,
}
OF_A_RUN = ("relevance",)  # whose folder is a run's: without one, that of the experiment that asks


def load(
    loader: str, folder: Path | None, selection: str | None, options: Mapping[str, Any], file: Path
) -> QuestionSet:
    """The set that a loader makes with the options of a rules file. Options that name files are beside it; `folder` is
    one of every loader, where no other folder is named.

    Raises `DataSetError` for a loader or an option that there is not, and whatever the loader raises.
    """
    if loader not in LOADERS:
        raise DataSetError(f"loader {loader!r} is not known", where=file, remedy=f"There are {', '.join(LOADERS)}.")
    make = LOADERS[loader]
    options = dict(options)
    if own := options.pop("folder", None):
        folder = folder or file.parent / str(own)
    known = [one.name for one in signature(make).parameters.values() if one.kind is Parameter.KEYWORD_ONLY]
    types = get_type_hints(make)
    given: dict[str, Any] = {}
    for option, value in options.items():
        if option not in known:
            raise DataSetError(f"options: {loader} has no {option!r}", where=file, remedy=f"It has {', '.join(known)}.")
        wanted = get_args(types[option]) or (types[option],)
        given[option] = file.parent / value if Path in wanted and isinstance(value, str) else value
        if not isinstance(given[option], wanted) or isinstance(value, bool) is not (bool in wanted):
            told = " or ".join(one.__name__ for one in wanted if one is not type(None))
            raise DataSetError(
                f"options.{option}: {value!r} is no {told}", where=file, remedy="See docs/question-sets.md."
            )
    return make(folder, selection, **given)

"""Code of ours for sets that a rules file alone cannot read: a module for each, and no list of them.

A rules file names the module, with hyphens for underscores:
- `expand = "kobbq-survey"` takes `rows` of the module `kobbq_survey`: the rows of a file, as `sources/rows.py` says
- `loader = "relevance"` takes `question_set` of the module `relevance`: a whole set, as `Made` says
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, TypeAlias

from polyculture.cache.text.suggestions import did_you_mean

if TYPE_CHECKING:
    from polyculture.instruments.questions.model import QuestionSet
    from polyculture.sources.record import Expand

# The folder, the selection and the concepts that a user names -> the set.
Made: TypeAlias = "Callable[[Path | None, str | None, Path | None], QuestionSet]"
ROWS, SET = "rows", "question_set"


def rows_of(name: str) -> Expand:
    """What makes rows for `expand = name`. Raises `ValueError` where no module does."""
    found: Expand = _function(name, ROWS)
    return found


def set_of(name: str) -> Made:
    """What makes the set for `loader = name`. Raises `ValueError` where no module does."""
    found: Made = _function(name, SET)
    return found


def _function(name: str, function: str) -> Any:
    known = {module.name.replace("_", "-"): module.name for module in iter_modules(__path__)}
    found = getattr(import_module(f"{__name__}.{known[name]}"), function, None) if name in known else None
    if found is None:
        what = "makes no whole set" if function == SET else "makes no rows of a file"
        able = [one for one in known if hasattr(import_module(f"{__name__}.{known[one]}"), function)]
        raise ValueError(f"{name!r} {what}. {did_you_mean(name, able)}")
    return found

"""`polyculture ner`: is the entity in a text tagged as well when it is swapped for one of another culture?"""

from __future__ import annotations

from typing import Annotated

import typer

from polyculture.cli.swap_options import Asked, LabelFile, run_labelled, run_prompted, with_shared_options


@with_shared_options(contexts=2)
def ner(
    asked: Asked,
    tagger: Annotated[str | None, typer.Option(help="Ask this token classifier of transformers instead.")] = None,
    labels: LabelFile = None,
) -> None:
    """Find the names in texts, with native and with Western entities in them.

    Precision, recall and F1 of the entity's exact span. What is answered already stays.
    """
    if tagger is None:
        run_prompted("ner", asked)
    else:
        run_labelled("ner", asked, tagger, labels)

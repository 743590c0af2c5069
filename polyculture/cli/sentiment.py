"""`polyculture sentiment`: do texts get another sentiment when their entity is swapped for one of another culture?"""

from __future__ import annotations

from typing import Annotated

import typer

from polyculture.cli.swap_options import Asked, LabelFile, run_labelled, run_prompted, with_shared_options


@with_shared_options()
def sentiment(
    asked: Asked,
    classifier: Annotated[str | None, typer.Option(help="Ask this text classifier of transformers instead.")] = None,
    labels: LabelFile = None,
) -> None:
    """Label texts as positive, negative or neutral, with native and with Western entities in them.

    Which labels are wrong, and how much more often with entities of one culture. What is answered already stays.
    """
    if classifier is None:
        run_prompted("sentiment", asked)
    else:
        run_labelled("sentiment", asked, classifier, labels)

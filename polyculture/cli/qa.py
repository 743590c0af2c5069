"""`polyculture qa`: is the entity in a text found as well when it is swapped for one of another culture?"""

from __future__ import annotations

from polyculture.cli.swap_options import Asked, run_prompted, with_shared_options


@with_shared_options()
def qa(asked: Asked) -> None:
    """Ask which entity a text names, with native and with Western entities in it.

    The answer counts if it is the entity, after normalisation. What is answered already stays.
    """
    run_prompted("qa", asked)

"""Whether the hub answers. Where it does not, its library retries for half a minute, once for each file of a model."""

from __future__ import annotations

from functools import cache

SILENT = "the hub does not answer, and nothing of that name is in its cache here"
_WAIT = 5  # seconds


@cache
def hub_arguments() -> dict[str, bool]:
    """What to add to `from_pretrained` of a name of the hub: where that does not answer, only its cache is read."""
    from huggingface_hub import constants
    from huggingface_hub.utils._http import get_session

    try:
        if not constants.HF_HUB_OFFLINE:
            get_session().head(constants.ENDPOINT, timeout=_WAIT)
    except Exception:  # noqa: BLE001 - of whichever client the library uses: no answer is no answer
        return {"local_files_only": True}
    return {}

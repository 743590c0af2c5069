"""Where the template of a prompt comes from, which decides what may be said of who wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from polyculture.cache.catalog import Catalog, read_catalog


def template_origin(template: Mapping[str, Any], catalog: Catalog) -> Literal["ours", "own", "of file"]:
    """Where a template comes from: Polyculture's files ("ours"), a culture pack ("own"), or a file of prompts, which
    has none ("of file"). `template` has its `template_id`, `language` and `topic`.
    """
    if template["template_id"] is None:
        return "of file"
    language, topic = catalog.languages.get(template["language"]), catalog.topics.get(template["topic"])
    of_topic = topic is not None and template["language"] in {*topic.sentences, *topic.wording}
    of_language = language is not None and language != read_catalog().languages.get(language.code)
    return "own" if of_topic or of_language else "ours"

"""More wordings and names are added to a run; others in their place would ask again, and are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyculture.cache.errors import ChangedExperimentError
from polyculture.cache.store.store import open_store
from polyculture.running.opening import open_workspace
from polyculture.running.texts import prepare
from tests.stages import do_stages

HEAD = """name = "small"
models = ["mock:a"]
languages = ["en", "ja"]
topics = ["food"]
countries = ["JP"]
conditions = ["neutral", "explicit", "implicit_male"]
[sampling]
n = 2
"""


def generate(folder: Path, prompts: str) -> set[tuple[str, str]]:
    """What a run has answers to after `generate`: their prompts and wordings."""
    file = folder / "exp.toml"
    file.write_text(HEAD + prompts, encoding="utf-8")
    with open_store(do_stages(file, "generate").run) as store:
        query = "SELECT prompt_id, wording FROM responses INNER JOIN prompts USING (prompt_id)"
        rows = store.sql(query).fetchall()
    assert len(rows) == 2 * len(set(rows))
    return set(rows)


def test_more_wordings_and_names_are_added(tmp_path: Path) -> None:
    one = generate(tmp_path, "")
    three = generate(tmp_path, "[prompts]\nwordings = 3\n")
    six = generate(tmp_path, "[prompts]\nwordings = 3\nnames = 2\n")
    assert (len(one), len(three), len(six)) == (6, 18, 24)
    assert one < three < six
    assert {wording for _, wording in six} == {"write", "describe", "imagine"}
    assert generate(tmp_path, '[prompts]\nwordings = ["write"]\n') == one


@pytest.mark.parametrize(
    ("prompts", "told"),
    [
        ('wordings = ["describe"]', "prompts.wordings was ['write'] and is now ['describe']"),
        ("seed = 7", "prompts.seed was 1 and is now 7"),
        ('wordings = ["describe", "write"]', "prompts.wordings was ['write'] and is now ['describe', 'write']"),
    ],
)
def test_others_in_their_place_are_refused(tmp_path: Path, prompts: str, told: str) -> None:
    generate(tmp_path, "")
    with pytest.raises(ChangedExperimentError) as fault:
        generate(tmp_path, f"[prompts]\n{prompts}\n")
    assert told in str(fault.value)
    assert "have another text" in str(fault.value)


def test_all_prompts_with_a_new_text_are_counted(tmp_path: Path) -> None:
    generate(tmp_path, "")
    file = tmp_path / "exp.toml"
    file.write_text("answer_in_language = true\n" + HEAD + "[prompts]\nseed = 7\n", encoding="utf-8")
    with pytest.raises(ChangedExperimentError) as fault:
        prepare(open_workspace(file))
    assert "prompts.seed was 1 and is now 7" in str(fault.value)
    assert "6 prompts have another text" in str(fault.value)

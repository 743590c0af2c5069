"""More wordings and names are added to a run; others in their place would ask again, and are refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from polyculture.cache.errors import ChangedExperimentError
from polyculture.cache.store.store import open_store
from polyculture.running.opening import open_workspace
from tests.stages import check, do_stages, prepare

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


WORDINGS = '[prompts]\nwordings = ["write", "describe"]\n'
OTHER_WORDING = '[prompts]\nwordings = ["write", "imagine"]\n'


def test_a_text_is_replaced_by_one_that_is_asked_for_in_its_cell(tmp_path: Path) -> None:
    generate(tmp_path, WORDINGS)
    changes = [
        (("", ""), OTHER_WORDING, 12),  # of two languages, three prompts, two samples
        (("n = 2", "n = 4"), OTHER_WORDING, 12),
        (("n = 2", "n = 2\ntemperature = 0.1"), WORDINGS, 24),
        (("n = 2", "n = 1\ntemperature = 0.1"), WORDINGS, 12),
        (("n = 2", "n = 4"), '[prompts]\nwordings = ["write"]\n', 0),  # more samples of fewer prompts
        (('countries = ["JP"]', 'countries = ["IT"]'), WORDINGS, 0),
        (('"en", "ja"', '"en", "ko"'), WORDINGS, 0),
    ]
    found = [refused(tmp_path, HEAD.replace(*head) + prompts) for head, prompts, _ in changes]
    assert found == [redone for *_, redone in changes]


def test_what_was_asked_for_before_and_has_no_answer_replaces_nothing(tmp_path: Path) -> None:
    """Where a run was killed, prompts that were answered may be left out while others of their cells still wait."""
    nobody = HEAD.replace(', "implicit_male"', "")  # whose name is drawn anew for other wordings
    file = tmp_path / "exp.toml"
    file.write_text(nobody + '[prompts]\nwordings = ["write"]\n', encoding="utf-8")
    do_stages(file, "generate")
    file.write_text(nobody + WORDINGS, encoding="utf-8")
    prepare(open_workspace(file))
    assert refused(tmp_path, nobody + '[prompts]\nwordings = ["describe"]\n') == 0
    assert refused(tmp_path, nobody + '[prompts]\nwordings = ["imagine"]\n') == 8


def refused(folder: Path, text: str) -> int:
    """How many responses would be made again by a changed experiment file; 0 where it is not refused."""
    (folder / "exp.toml").write_text(text, encoding="utf-8")
    try:
        check(open_workspace(folder / "exp.toml"))
    except ChangedExperimentError as fault:
        found = re.search(r"To be redone: (\d+) responses, and", str(fault))
        assert found
        return int(found[1])
    return 0


def test_all_prompts_with_a_new_text_are_counted(tmp_path: Path) -> None:
    generate(tmp_path, "")
    file = tmp_path / "exp.toml"
    file.write_text("answer_in_language = true\n" + HEAD + "[prompts]\nseed = 7\n", encoding="utf-8")
    with pytest.raises(ChangedExperimentError) as fault:
        prepare(open_workspace(file))
    assert "prompts.seed was 1 and is now 7" in str(fault.value)
    assert "6 prompts have another text" in str(fault.value)

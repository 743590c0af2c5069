"""`polyculture bbq --treatment`: a warning, reasoning first, other wordings of 'unknown', each an arm of its own."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import polyculture.instruments.bbq as bbq
from polyculture.cache.errors import DataSetError
from polyculture.instruments.bbq.opened import chosen_prompts, open_questions
from polyculture.instruments.bbq.prompts import house_languages
from polyculture.instruments.bbq.treatments import treated
from tests.instruments.bbq.made_up import QUESTIONS, answering, letter_of, oracle, write_folder
from tests.instruments.bbq.test_command import rows, write
from tests.polyculture.test_command_line import one_line, polyculture
from tests.servers import StubServer

TEXTS = tomllib.loads((Path(bbq.__file__).parent / "treatments.toml").read_text(encoding="utf-8"))
WARNING, REASONING = TEXTS["warning"]["texts"]["ko"], TEXTS["reasoning"]["texts"]["ko"]


def test_an_arm_stands_alone_and_is_paired_with_the_untreated_prompts(tmp_path: Path) -> None:
    def warned(message: str) -> str:  # wrong unless it is warned
        return (
            oracle(message)
            if WARNING in message or "가 잘못했습니다" in message
            else letter_of(message, "(?:노인|부자)")
        )

    with StubServer(behaviour=answering(warned)) as server:
        write(tmp_path, server.url)
        for words in ((), ("--treatment", "warning")):
            done = polyculture("bbq", "kobbq", "exp.toml", "--prompts", "1", *words, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
        assert sum(WARNING in body["messages"][0]["content"] for body in server.bodies) == QUESTIONS * 3
        asked = len(server.bodies)
        listed = polyculture(
            "bbq", "kobbq", "exp.toml", "--prompts", "1", "--table", "pairs", "--format", "csv", cwd=tmp_path
        )
        assert listed.returncode == 0, listed.stderr
        assert len(server.bodies) == asked
    found = rows(tmp_path, "SELECT dataset, acc_a FROM bbq_over_prompts WHERE part = 'overall' "
                           "AND averaging = 'pooled' ORDER BY ALL")  # fmt: skip
    assert found == [("kobbq", 0.0), ("kobbq+warning", 1.0)]  # no mean is over both
    line = next(line for line in listed.stdout.splitlines() if line.startswith("treatments,") and ",acc_a," in line)
    assert line.startswith('treatments,warning,none,openai:stub,"generated, paper",,acc_a,1.0,0.0,1.0')


def test_reasoning_has_room_and_its_answer_stands_at_the_end(tmp_path: Path) -> None:
    with StubServer(
        behaviour=answering(lambda message: f"A는 아닙니다. C도 있습니다.\n정답: {oracle(message)}")
    ) as server:
        write(tmp_path, server.url)
        done = polyculture("bbq", "kobbq", "exp.toml", "--prompts", "1", "--treatment", "reasoning", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        tokens = {body.get("max_tokens") or body.get("max_completion_tokens") for body in server.bodies}
        assert tokens == {TEXTS["reasoning"]["tokens"]}
        assert all(body["messages"][0]["content"].endswith(REASONING) for body in server.bodies)
        assert rows(tmp_path, "SELECT DISTINCT dataset FROM bbq_answers") == [("kobbq+reasoning",)]
        assert rows(tmp_path, "SELECT acc_a, acc_d FROM bbq_over_prompts WHERE part = 'overall'")[0] == (1.0, 1.0)
        file = tmp_path / "exp.toml"
        file.write_text(
            file.read_text(encoding="utf-8").replace("openai:stub", "transformers:scores"), encoding="utf-8"
        )
        again = polyculture("bbq", "kobbq", "exp.toml", "--treatment", "reasoning", "--method", "letter", cwd=tmp_path)
        assert again.returncode == 2
        assert "a likelihood is of the choices alone" in again.stderr
        table = polyculture("bbq", "kobbq", "exp.toml", "--treatment", "warning", "--table", "published", cwd=tmp_path)
        assert "no figures of 'kobbq+warning' are published here" in one_line(table)


def test_unknown_has_several_wordings_or_one(tmp_path: Path) -> None:
    opened = open_questions("kobbq", write_folder(tmp_path), "evaluation")
    prompts = chosen_prompts(opened, ["1..2"])
    several = treated(prompts, "unknowns", "ko", ["generated"]).prompts
    shown = {prompt.shown(one, (0, 1, 2))[2] for prompt in several for one in opened.questions}
    assert len(shown) > 1
    assert shown <= set(TEXTS["unknowns"]["wordings"]["ko"])
    assert several[0].shown(opened.questions[0], (0, 1, 2)) == several[1].shown(opened.questions[0], (0, 1, 2))
    one = treated(prompts, "one-unknown", "ko", ["letter"]).prompts
    assert {prompt.shown(each, (0, 1, 2))[2] for prompt in one for each in opened.questions} == {"알 수 없음"}


def test_a_language_without_a_text_is_asked_in_english() -> None:
    assert treated([], "warning", "ca", ["generated"]).line == (
        "there is no text of 'warning' in 'ca': it is asked in English"
    )
    with pytest.raises(DataSetError, match="reasoning is written"):
        treated([], "reasoning", "ko", ["generated", "text"])
    for kind in (TEXTS["warning"]["texts"], TEXTS["reasoning"]["texts"], TEXTS["unknowns"]["wordings"]):
        assert set(kind) == set(house_languages())

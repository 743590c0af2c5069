"""What is sent with a prompt, per model: a system prompt, a sentence behind it, and the variants of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.errors import ChangedExperimentError, ExperimentError
from polyculture.cache.store.manifest import Manifest, require_run
from polyculture.cache.store.parquet import read_rows
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import RESPONSES, WANTED_RESPONSES
from polyculture.cache.store.shards import committed_parts
from polyculture.experiment.file import read_experiment
from polyculture.running.calls import ExperimentAsked
from polyculture.running.estimate import estimates
from polyculture.running.opening import open_workspace
from tests.servers import StubServer
from tests.stages import do_stages, texts_of
from tests.stored import rows

EXPERIMENT = """name = "{name}"
models = [{models}]
languages = ["en", "ja"]
topics = ["food"]
countries = ["IT"]
conditions = ["neutral", "explicit"]
{top}
[sampling]
n = 2
max_tokens = 16
[extract]
with = "gazetteer"
[options.openai]
base_url = "{url}"
{more}
"""
POLITE = '[variants."openai:a"]\npolite = { system = "Be polite." }\n'
ASKS = 2 * 2 * 2  # languages, prompts, samples: of one model


@pytest.fixture
def server() -> Iterator[StubServer]:
    with StubServer() as one:
        yield one


def write(
    folder: Path, server: StubServer, *, top: str = "", more: str = "", models: str = '"openai:a"', name: str = "asking"
) -> Path:
    file = folder / f"{name}.toml"
    told = EXPERIMENT.format(name=name, models=models, url=server.url, top=top, more=more)
    file.write_text(told, encoding="utf-8")
    return file


def generate(file: Path, *, accept_changes: bool = False) -> Manifest:
    return require_run(do_stages(file, "generate", accept_changes=accept_changes).run)


def turns(body: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((turn["role"], turn["content"]) for turn in body["messages"])


def systems(server: StubServer) -> Counter[str | None]:
    """How many requests came under each system prompt; each has one turn of the user's behind it."""
    found: Counter[str | None] = Counter()
    for body in server.bodies:
        *system, (role, _) = turns(body)
        assert role == "user"
        assert [role for role, _ in system] in ([], ["system"])
        found[system[0][1] if system else None] += 1
    return found


def test_without_a_system_prompt_nothing_is_known_under_another_id(tmp_path: Path, server: StubServer) -> None:
    generate(write(tmp_path, server))
    plain = {row["response_id"] for row in stored(tmp_path / "runs" / "asking")}
    assert systems(server) == {None: ASKS}
    again = write(tmp_path, server, more='[options."openai:a"]\nsystem = ""\n', name="again")
    generate(again)
    assert {row["response_id"] for row in stored(tmp_path / "runs" / "again")} == plain
    assert len(server.bodies) == ASKS


def stored(root: Path) -> list[dict[str, Any]]:
    parts = committed_parts(RunFolder(root), RESPONSES)
    return [row for part in parts for row in read_rows(part, RESPONSES).to_pylist()]


def test_a_system_prompt_is_a_message_of_its_own_and_another_one_other_texts(
    tmp_path: Path, server: StubServer
) -> None:
    file = write(tmp_path, server)
    generate(file)
    write(tmp_path, server, more='[prompts]\nsystem = "Be polite."\n')
    with pytest.raises(ChangedExperimentError, match=r"openai:a.*'Be"):
        generate(file)
    assert systems(server) == {None: ASKS}
    generate(file, accept_changes=True)
    assert systems(server) == {None: ASKS, "Be polite.": ASKS}
    assert rows(file, "SELECT count(*), count(DISTINCT request_id) FROM responses") == [(ASKS, 4)]
    assert rows(file, "SELECT count(*) FROM stored_responses") == [(2 * ASKS,)]
    write(tmp_path, server)
    generate(file)
    assert len(server.bodies) == 2 * ASKS
    assert rows(file, "SELECT count(*) FROM responses") == [(ASKS,)]


def test_the_options_of_a_model_come_before_those_of_its_engine_and_of_all(tmp_path: Path, server: StubServer) -> None:
    own = '[options."openai:b"]\nsystem = "Own."\n[options."openai:c"]\nsystem = ""\n'
    more = f'system = "Engine."\n{own}[prompts]\nsystem = "All."'
    file = write(tmp_path, server, models='"openai:a", "openai:b", "openai:c", "mock:d"', more=more)
    experiment = read_experiment(file)
    found = [experiment.model_spec(model).options.get("system") for model in experiment.models]
    assert found == ["Engine.", "Own.", None, "All."]


def test_an_extractor_has_no_system_prompt_of_texts(tmp_path: Path, server: StubServer) -> None:
    file = write(tmp_path, server)
    before = file.read_text(encoding="utf-8").replace('"gazetteer"', '"openai:a"')
    file.write_text(before, encoding="utf-8")
    alone = open_workspace(file).setups
    file.write_text(before + '[prompts]\nsystem = "Be polite."\n', encoding="utf-8")
    polite = open_workspace(file).setups
    assert polite["extract openai:a"] == alone["extract openai:a"]
    assert polite["sample openai:a"] == {**alone["sample openai:a"], "system": "Be polite."}


def test_a_variant_is_a_model_of_its_own_in_every_table(tmp_path: Path, server: StubServer) -> None:
    more = '[prices."openai:a"]\ninput = 1.0\noutput = 2.0\n[model_facts."openai:a"]\norigin = "US"\n' + POLITE
    file = write(tmp_path, server, more=more)
    experiment = read_experiment(file)
    assert experiment.models == ("openai:a", "openai:a@polite")
    assert experiment.price("openai:a@polite") == experiment.price("openai:a") is not None
    assert experiment.facts_of_models["openai:a@polite"] == {"origin": "US"}
    manifest = generate(file)
    assert {body["model"] for body in server.bodies} == {"a"}
    assert systems(server) == {None: ASKS, "Be polite.": ASKS}
    found = rows(file, "SELECT model, count(*), count(DISTINCT prompt_id) FROM responses GROUP BY 1 ORDER BY 1")
    assert found == [("openai:a", ASKS, 4), ("openai:a@polite", ASKS, 4)]
    assert manifest.models == ["openai:a", "openai:a@polite"]
    assert rows(file, "SELECT count(DISTINCT request_id) FROM responses") == [(8,)]
    assert rows(file, "SELECT count(*) FROM cells WHERE model = 'openai:a@polite'") == [(4,)]
    ready = open_workspace(file)
    assert {estimate.left for estimate in estimates(ready, texts_of(ready))} == {0}


def test_a_variant_that_comes_later_leaves_what_is_there(tmp_path: Path, server: StubServer) -> None:
    file = write(tmp_path, server)
    generate(file)
    write(tmp_path, server, more=POLITE)
    generate(file)
    assert systems(server) == {None: ASKS, "Be polite.": ASKS}


def test_a_variant_has_the_options_of_its_model_under_its_own(tmp_path: Path, server: StubServer) -> None:
    own = '[options."openai:a"]\nconcurrency = 3\nsystem = "Own."\n'
    more = own + '[variants."openai:a"]\nplain = { system = "" }\nhot = { concurrency = 2 }\n'
    experiment = read_experiment(write(tmp_path, server, models='"openai:a", "openai:b"', more=more))
    assert experiment.models == ("openai:a", "openai:a@plain", "openai:a@hot", "openai:b")
    specs = [experiment.model_spec(model) for model in experiment.models[:3]]
    assert [spec.name for spec in specs] == ["a"] * 3
    assert [(spec.options.get("system"), spec.options["concurrency"]) for spec in specs] == [
        ("Own.", 3),
        (None, 3),
        ("Own.", 2),
    ]


def test_a_variant_alone_and_names_with_an_at_sign(tmp_path: Path, server: StubServer) -> None:
    more = '[variants."openai:a@2024"]\npolite = { system = "Be polite." }\nrude = { system = "Be rude." }\n'
    file = write(tmp_path, server, models='"openai:a@2024@polite", "openai:b@polite"', more=more)
    experiment = read_experiment(file)
    assert experiment.models == ("openai:a@2024@polite", "openai:b@polite")
    assert [experiment.model_spec(model).name for model in experiment.models] == ["a@2024", "b@polite"]


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ('[variants."openai:x"]\npolite = { system = "s" }\n', "none of the models"),
        ('[variants."openai:a"]\n"a b" = { system = "s" }\n', "'a b' is no name"),
        ('[variants."openai:a"]\npolite = { sytem = "s" }\n', "unknown key 'sytem'"),
        ('[variants."openai:a"]\npolite = "s"\n', "must be a table of keys"),
        ("[prompts]\nsystem = 3\n", "prompts.system"),
        ('[prompts]\nsystem = " "\n', "prompts.system"),
        ('[prompts]\nsytem = "s"\n', "unknown key 'prompts.sytem'"),
    ],
)
def test_mistakes_in_the_file_are_one_line(more: str, what: str, tmp_path: Path, server: StubServer) -> None:
    with pytest.raises(ExperimentError) as raised:
        open_workspace(write(tmp_path, server, more=more))
    assert what in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("wanted", ['"yes"', "1", '["openai:nobody"]', "[1]"])
def test_answer_in_language_is_for_all_none_or_models_that_there_are(
    wanted: str, tmp_path: Path, server: StubServer
) -> None:
    with pytest.raises(ExperimentError, match="answer_in_language") as raised:
        open_workspace(write(tmp_path, server, top=f"answer_in_language = {wanted}"))
    assert not {"?.", "..", "!."} & {str(raised.value)[place : place + 2] for place in range(len(str(raised.value)))}


def test_the_sentence_of_one_model_leaves_the_prompts_of_all(tmp_path: Path, server: StubServer) -> None:
    two = '"openai:a", "openai:b"'
    file = write(tmp_path, server, models=two)
    generate(file)
    plain = {body["messages"][-1]["content"] for body in server.bodies}
    write(tmp_path, server, models=two, top='answer_in_language = ["openai:b"]')
    with pytest.raises(ChangedExperimentError, match=r"openai:b.*answer_in_language"):
        generate(file)
    generate(file, accept_changes=True)
    added = server.bodies[2 * ASKS :]
    assert len(added) == ASKS
    assert {body["model"] for body in added} == {"b"}
    texts = {body["messages"][-1]["content"] for body in added}
    assert all(any(text.startswith(one) and text != one for one in plain) for text in texts)
    assert sum(text.endswith("Please answer in English.") for text in texts) == 2
    found = rows(file, "SELECT model, count(*), count(DISTINCT prompt_id) FROM responses GROUP BY 1 ORDER BY 1")
    assert found == [("openai:a", ASKS, 4), ("openai:b", ASKS, 4)]
    assert rows(file, "SELECT count(*) FROM prompts") == [(4,)]
    ready = open_workspace(file)
    assert {estimate.left for estimate in estimates(ready, texts_of(ready))} == {0}
    generate(file)
    assert len(server.bodies) == 3 * ASKS


def test_a_run_that_asks_it_of_all_keeps_its_ids_and_lends_its_answers(tmp_path: Path, server: StubServer) -> None:
    whole = write(tmp_path, server, top="answer_in_language = true", name="whole")
    generate(whole)
    texts = {body["messages"][-1]["content"] for body in server.bodies}
    assert texts == {text for (text,) in rows(whole, "SELECT text FROM prompts")}
    some = write(
        tmp_path, server, models='"openai:a", "openai:b"', top='answer_in_language = ["openai:a"]', name="some"
    )
    generate(some)
    assert Counter(body["model"] for body in server.bodies) == {"a": ASKS, "b": ASKS}
    assert rows(some, "SELECT count(*) FROM responses") == [(2 * ASKS,)]


def test_a_changed_sentence_makes_the_texts_of_its_language_stale(tmp_path: Path, server: StubServer) -> None:
    file = write(tmp_path, server, top='answer_in_language = ["openai:a"]')
    manifest = generate(file)
    other = {**manifest.appended["openai:a"], "ja": "X"}
    changed = manifest.model_copy(update={"appended": {"openai:a": other}})
    workspace = open_workspace(file)
    language = {prompt.prompt_id: prompt.language for prompt in workspace.prompts}
    before, now = (workspace.joining(one).text_tables[WANTED_RESPONSES].to_pylist() for one in (manifest, changed))
    differ = {language[a["prompt_id"]] for a, b in zip(before, now, strict=True) if a["request_id"] != b["request_id"]}
    assert differ == {"ja"}


def test_a_language_that_comes_later_leaves_the_sentences_of_others(tmp_path: Path, server: StubServer) -> None:
    file = write(tmp_path, server, top='answer_in_language = ["openai:a"]')
    generate(file)
    file.write_text(file.read_text(encoding="utf-8").replace('["en", "ja"]', '["en", "ja", "tr"]'), encoding="utf-8")
    generate(file)
    assert len(server.bodies) == ASKS * 3 // 2


def test_instruments_ask_no_variant_that_differs_in_its_system_prompt_alone(tmp_path: Path, server: StubServer) -> None:
    more = POLITE + 'hot = { extra_body = { effort = "high" } }\n'
    workspace = open_workspace(write(tmp_path, server, more=more))
    assert ExperimentAsked(workspace).models == ("openai:a", "openai:a@hot")
    assert ExperimentAsked(workspace, "openai:a@polite").models == ("openai:a@polite",)

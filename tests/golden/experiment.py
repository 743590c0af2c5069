"""The golden run: one small experiment, from its files to its report, with every instrument that measures something.

Two models of a server (`tests/golden/answers.py`), one that is only played (`mock`), and a tiny one in this process,
which is probed; a snapshot of Wikidata of its own (`wikidata.json`); the demos' data sets.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import polyculture.instruments as instruments
from polyculture.instruments.papers import study
from tests.golden import papers
from tests.golden.answers import ITEMS, answer, number_of, said_of_culture
from tests.instruments.culture_files import write_open, write_sheets
from tests.instruments.questions.kobbq_files import write_folder
from tests.polyculture.test_command_line import polyculture
from tests.servers import StubServer
from tests.tiny_models import save_causal

NAME = "golden"
EXPERIMENT = """\
name = "golden"
models = ["openai:tern", "openai:plover", "mock:wren", "transformers:llama"]
languages = ["ja", "hi", "th"]
topics = ["food", "beverage"]
countries = ["JP", "IN", "TH"]
conditions = ["neutral", "explicit", "implicit_female"]
implicit_countries = "first"

[prompts]
wordings = ["write", "describe"]
names = 1

[sampling]
n = 4
max_tokens = 64

[extract]
with = "openai:reader"

[link]
snapshot = "wikidata.duckdb"

[options.openai]
base_url = "{url}"
max_retries = 0
[options."mock:wren"]
answers = "wren.toml"
[options.transformers]
device = "cpu"
bare_prompts = true

[probe]
resamples = 19
answer_tokens = 8

[prices."openai:tern"]
input = 1
output = 2
"""
WREN = """\
[[answer]]
texts = [
  "彼はラーメンとピザが好きです。", "友人と緑茶を飲みます。", "おにぎりとチャイ、そしてサンドイッチ。",
  "He has pizza and coffee.",
]
"""
CORPUS = "my mother always made ramen\nmy mother always made pizza\nwe had pizza and then miso soup\n" * 3
CULTURES = ("China", "Indonesia", "Mexico", "South Korea")
LOW = "Assam"  # a culture of few resources
PER_CULTURE = 3
DEMOS = Path(instruments.__file__).parent
CBS = ("--data", "own:likely", "--folder", DEMOS / "cbs" / "demo", "--model", "mock:wren")
FEW = ("--contexts", "2", "--entities", "6")
SERVED = ("--model", "openai:plover")
SWAPS = (
    "--data",
    "own:swapped",
    "--folder",
    DEMOS / "swaps" / "demo",
    "--contexts",
    "2",
    "--entities",
    "3",
    "--draws",
    "2",
)
UNITS = ("age-01", "work-04", "place-05", "study-07", "money-09")
FIVE = tuple(word for unit in UNITS for word in ("--only", f"template={unit}"))
LLAMA = ("--model", "transformers:llama")

# In order, with their exit codes. 4: some of the answers fail, as they are told to.
MAIN = ("openai:tern", "openai:plover", "mock:wren")
PROBE = ("open.toml", "--link", "--tagger", "rule")
NEWS = ("--corpus", "news.txt", "--name", "news", "--processes", "1")
COMMANDS: tuple[tuple[int, tuple[str | Path, ...]], ...] = (
    *((4, ("run", "--only", "generate", "--model", model)) for model in MAIN[:2]),
    (0, ("run", "--only", "generate", "--model", MAIN[2])),
    *((4, ("run", "--only", "extract", "--model", model)) for model in MAIN[:2]),
    (0, ("run", "--only", "extract", "--model", MAIN[2])),
    (0, ("run", "--only", "link")),
    (0, ("run", "--only", "measure")),
    (0, ("cbs", *CBS, *FEW, "--help-with", "token")),
    (0, ("corpus", *CBS[:4], *NEWS, "--language", "en", "--type", "food", "--contexts", "1", "--entities", "6")),
    (0, ("probe", "embeddings", *CBS, *FEW, "--layer", "first", "--layer", "last")),
    (0, ("probe", "tokens", *LLAMA, "--language", "ja", "--language", "hi")),
    (0, ("swap", "sentiment", *SWAPS, "--model", "openai:tern")),
    *((0, ("swap", task, *SWAPS, *SERVED)) for task in ("sentiment", "qa", "ner")),
    (0, ("ask", "made-up.toml", *FIVE, *SERVED)),
    (0, ("ask", "kobbq", "--folder", "kobbq", "--model", "openai:tern")),
    (0, ("ask", "culture-mcq", "--folder", "sheets", *SERVED)),
    (0, ("probe", *PROBE, *LLAMA)),
    (0, ("report",)),
)
NEVER_ASK = ("link", "measure", "corpus", "report")


def write_workspace(folder: Path, url: str) -> None:
    """The experiment file and all that it names; the snapshot is built from a dump."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "golden.toml").write_text(EXPERIMENT.format(url=url), encoding="utf-8")
    (folder / "wren.toml").write_text(WREN, encoding="utf-8")
    (folder / "news.txt").write_text(CORPUS, encoding="utf-8")
    write_folder(folder / "kobbq")
    demo, orders = DEMOS / "questions" / "demo", "orders = [[0, 2, 1], [1, 0, 2], [2, 1, 0]]\n"
    (folder / "made-up.toml").write_text(orders + (demo / "made-up.toml").read_text(encoding="utf-8"), encoding="utf-8")
    shutil.copyfile(demo / "made-up.tsv", folder / "made-up.tsv")
    write_sheets(folder / "sheets", PER_CULTURE, CULTURES)
    rows = [
        f"Al-en-{number:02}\t{culture}\ten\tFood\tWhat do people eat on day {number} in {culture}?"
        for number in range(PER_CULTURE)
        for culture in CULTURES
    ]
    write_open(folder, rows)
    save_causal("llama", folder / "llama")
    papers.write_papers(folder, url)
    dump = folder / "dump.json"
    dump.write_text("[\n" + ",\n".join(json.dumps(_entity(item)) for item in ITEMS) + "\n]\n", encoding="utf-8")
    done = polyculture("wikidata", "build", dump, "-o", "wikidata.duckdb", cwd=folder)
    assert done.returncode == 0, done.stderr


def _entity(item: dict[str, Any]) -> dict[str, Any]:
    """An item as it stands in a dump of Wikidata."""
    claims = {name: [_claim(target) for target in item[name]] for name in item if name.startswith("P")}
    return {
        "type": "item", "id": item["id"], "claims": claims, "descriptions": {}, "aliases": {},
        "labels": {language: {"language": language, "value": name} for language, name in item["labels"].items()},
        "sitelinks": {f"s{number}wiki": {} for number in range(item.get("sitelinks", 0))},
    }  # fmt: skip


def _claim(target: str) -> dict[str, Any]:
    value = {"entity-type": "item", "numeric-id": int(target[1:]), "id": target}
    snak = {"snaktype": "value", "datavalue": {"value": value, "type": "wikibase-entityid"}}
    return {"mainsnak": snak, "type": "statement", "rank": "normal"}


class Requests:
    """Counts what any model is asked: requests at the server, answers played, models loaded in this process."""

    def __init__(self, server: StubServer) -> None:
        self.server, self.elsewhere = server, 0

    def __call__(self) -> int:
        """How many there were since the last call."""
        found = len(self.server.bodies) + self.elsewhere
        self.server.bodies.clear()
        self.elsewhere = 0
        return found

    def counting(self, method: Any) -> Any:
        """The method, counted."""

        def counted(*words: Any, **named: Any) -> Any:
            self.elsewhere += 1
            return method(*words, **named)

        return counted


@contextmanager
def golden_models() -> Iterator[Requests]:
    """The server, and all other models counted. What the model in this process says is put into its mouth: of a layer,
    items of a culture that hang on question and layer, some of them another culture's; of a question, an option or an
    answer of people."""
    import transformers

    from polyculture.generate.engines.base import Completion
    from polyculture.generate.engines.mock import MockEngine
    from polyculture.generate.engines.patching import Continuation
    from polyculture.generate.engines.transformers.engine import TransformersEngine

    asked: list[str] = []
    answer_states = TransformersEngine.answer_states

    def states(engine: Any, requests: Iterable[Any], *more: Any, **named: Any) -> Any:
        found = list(requests)
        asked[:] = [found[0].messages[-1].content]
        return answer_states(engine, found, *more, **named)

    def said(_: Any, _inspection: Any, patches: Iterable[Any]) -> Iterator[Any]:
        for layer, patch in enumerate(patches):
            yield Continuation(patch.patch_id, f" {', '.join(_items(asked[0], layer))}", 9, "line", "told")

    def sample(_: Any, requests: Iterable[Any]) -> Iterator[Any]:
        for request in requests:
            text = said_of_culture(request.messages[-1].content)
            yield from (Completion(request.request_id, seed, text, "told") for seed in request.seeds)

    with StubServer(behaviour=answer) as server, pytest.MonkeyPatch.context() as patch:
        requests = Requests(server)
        for method in ("_complete", "_scored"):
            patch.setattr(MockEngine, method, requests.counting(getattr(MockEngine, method)))
        load = transformers.PreTrainedModel.from_pretrained.__func__  # type: ignore[attr-defined]
        patch.setattr(transformers.PreTrainedModel, "from_pretrained", classmethod(requests.counting(load)))
        patch.setattr(TransformersEngine, "answer_states", states)
        patch.setattr(TransformersEngine, "continue_patched", said)
        patch.setattr(TransformersEngine, "sample", requests.counting(sample))
        # Tables of papers are read once, when all is asked (`read_papers`): to print them takes as long as to ask.
        patch.setattr(study, "joined_tables", lambda *_: ([], {}))
        yield requests


def _items(question: str, layer: int) -> list[str]:
    """Two names of food: a culture's own, and one of those that all share."""
    names = [item["labels"]["en"] for item in ITEMS if item.get("topic") == "food"]
    culture = next(place for place, name in enumerate((*CULTURES, LOW)) if name in question)
    own, other = names[culture * 2 : culture * 2 + 3], names[number_of(question, layer) % len(names)]
    return [own[number_of(question, layer, "own") % len(own)], other]


def run_all(folder: Path, requests: Requests, *, again: bool = False) -> dict[str, int]:
    """How many requests each command made; its exit code is checked. `again`: without those that never ask."""
    made: dict[str, int] = {}
    requests()
    for code, words in (*((code, _on_golden(*words)) for code, words in COMMANDS), *papers.COMMANDS):
        if again and not {*words}.isdisjoint(NEVER_ASK):
            continue
        done = polyculture(*words, cwd=folder)
        assert done.returncode == code, (words, done.returncode, done.stderr[-2000:])
        made[" ".join(map(str, words))] = requests()
    return made


def _on_golden(name: str | Path, *words: str | Path) -> tuple[str | Path, ...]:
    """A command's words with the file of the golden experiment."""
    data = name in ("ask", "swap", "probe") and not str(words[0]).startswith("-")
    return (name, *words[:data], "golden.toml", *words[data:])

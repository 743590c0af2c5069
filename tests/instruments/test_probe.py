"""Probing: what is asked, read, split, filtered and shown, on tiny models; what is wrong is one line."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyculture.cache.errors import DataSetError
from polyculture.cache.store.run_folder import Job, RunFolder
from polyculture.cache.store.sql_file import read_sql
from polyculture.cache.store.store import open_store
from polyculture.generate.engines import PATCHING, Completion, Decoding, Message, ModelSpec, Request, open_engine
from polyculture.generate.engines.models import OneModel
from polyculture.generate.engines.patching import AnswerStates, Continuation, Inspection, Patch, StatesRequest
from polyculture.instruments import papers
from polyculture.instruments.cultures.cultures import read_cultures
from polyculture.instruments.probe.arms import noise
from polyculture.instruments.probe.asking import HOUSE, ProbeJob, ProbeRules, read_inspection
from polyculture.instruments.probe.encoder import encode, encoders_of
from polyculture.instruments.probe.flattening import beside
from polyculture.instruments.probe.layout import ProbeReadingRow
from polyculture.instruments.probe.questions import as_probed
from polyculture.instruments.probe.splitting import echo_of, split_items
from polyculture.instruments.probe.step import ProbingStep
from polyculture.instruments.probe.words import content_words, word_rule
from polyculture.instruments.questions.rules.opened import open_set
from polyculture.reports.report import write_report
from polyculture.running.layout import store_layout
from tests.instruments.culture_files import write_open
from tests.instruments.probe_world import layers_say
from tests.polyculture.test_command_line import one_line, polyculture
from tests.report_run import sections_named
from tests.tiny_models import save_causal, save_masked

pytest.importorskip("torch", reason="the extra 'transformers' is not installed")

EXPERIMENT = """
name = "inside"
models = ["{model}"]
languages = ["en"]
topics = ["food"]
countries = ["JP"]
"""
OPTIONS = """
[options.transformers]
device = "cpu"
bare_prompts = true
[instruments.probe]
set = "open.toml"
tagger = ["rule"]
resamples = 19
answer_tokens = 8
item_tokens = 4
"""
CULTURES = ("Iran", "Korea", "Mexico")


def write_questions(folder: Path, cultures: Iterable[str] = CULTURES) -> Path:
    lines = [f"q{n}\t{one}\ten\tFood\tWhat is dish {n} in {one}?" for n in (1, 2, 3) for one in cultures]
    return write_open(folder, lines)


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_causal("llama", tmp_path_factory.mktemp("model") / "llama")


@pytest.fixture
def folder(tmp_path: Path, llama: Path) -> Path:
    (tmp_path / "exp.toml").write_text(EXPERIMENT.format(model=f"transformers:{llama}") + OPTIONS, encoding="utf-8")
    write_questions(tmp_path)
    return tmp_path


def test_probes_every_layer_under_every_arm_and_nothing_twice(folder: Path, llama: Path) -> None:
    words, few = ("probe", "exp.toml"), ("--units", "1", "--control", "text")
    run = RunFolder(folder / "runs" / "inside")

    def counted() -> dict[str, int]:
        with open_store(run, store_layout()) as store:
            # Of three questions one was asked of both arms: they are compared on that.
            assert {row[0] for row in store.sql(ARMS).fetchall()} <= {1}
            return dict(store.sql("SELECT arm, count(*) FROM probes GROUP BY arm").fetchall())

    for asked, there in ((few, 3), ((), 9), (few, 3)):  # the questions of the last command count
        done = polyculture(*words, *asked, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert counted() == {"patched": there, "text": 3}
    assert "not all that was asked before is asked now" in done.stderr
    assert " done" not in done.stderr  # the model is not even opened
    whole = polyculture(*words, "--control", "noise", "--control", "text", cwd=folder)
    assert whole.returncode == 0, whole.stderr
    with open_store(run, store_layout()) as store:
        count = "SELECT arm, count(DISTINCT r.probe_id), count(*), min(layer), max(layer) FROM probe_readings AS r"
        arms = store.sql(f"{count} JOIN probes USING (probe_id) GROUP BY arm ORDER BY arm").fetchall()
        expected = [("noise", 9, 36, 1, 4), ("patched", 9, 36, 1, 4), ("text", 9, 9, 0, 0)]
        assert arms == expected
        assert store.sql("SELECT DISTINCT status, layers, word_rule FROM probes").fetchall() == [
            ("ok", 4, word_rule("en"))
        ]
        (asked, answer, spoken), *_ = store.sql(
            "SELECT q.question, answer, words FROM probes JOIN probe_questions AS q USING (question_key) "
            "WHERE arm = 'patched' ORDER BY question"
        ).fetchall()
        read = store.execute(
            "SELECT layer, text FROM probe_readings JOIN probes USING (probe_id) JOIN probe_questions q "
            "USING (question_key) WHERE arm = 'patched' AND q.question = ? ORDER BY layer",
            [asked],
        ).fetchall()
    spec = ModelSpec(f"transformers:{llama}", {"device": "cpu", "bare_prompts": True})
    with open_engine(spec, PATCHING) as engine:
        spans = tuple((word.start, word.end) for word in content_words(answer, "en"))
        assert [word.text for word in content_words(answer, "en")] == (spoken or [])
        (found,) = engine.answer_states([StatesRequest("q", (Message("user", asked),), answer, spans)])
        assert found.states is not None
        patches = [Patch(str(n), {n: state}) for n, state in enumerate(found.states, 1)]
        alone = [
            (int(one.patch_id), one.text)
            for patch in patches
            for one in engine.continue_patched(read_inspection(HOUSE, 4), [patch])
        ]
    assert read == alone
    text = (folder / "exp.toml").read_text(encoding="utf-8")
    (folder / "exp.toml").write_text(text.replace("item_tokens = 4", "item_tokens = 5"), encoding="utf-8")
    refused = polyculture("probe", "exp.toml", cwd=folder)
    assert refused.returncode == 2
    assert "item_tokens was 4 and is now 5" in refused.stderr
    longer = polyculture("probe", "exp.toml", "--accept-changes", cwd=folder)
    assert "no control was run" in longer.stderr, "a control of other rules stands beside the probe"
    topic = next((run.root / "probes").rglob("topic=*"))
    for table in (run.root / "inventory").iterdir():  # of all tables, as a killed command leaves it
        shutil.rmtree(table / topic.relative_to(run.root / "probes"), ignore_errors=True)
    shutil.rmtree(topic)
    with open_store(run, store_layout()) as store:
        measured = store.sql(f"SELECT metric, lacking FROM ({OWN_NUMBERS})").fetchall()
    assert [metric for metric, _ in measured] == [None]  # no number of other data, and why
    assert measured[0][1].endswith("questions without an answer")


def test_what_runs_beside_it_have_probed_is_taken_over_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs hold a probe each way: one has probed it, the other has taken it over."""
    import transformers

    tables = ("probes", "probe_readings", "probe_items")

    def probed(name: str, *words: str) -> dict[str, list[Any]]:
        text = (folder / "exp.toml").read_text(encoding="utf-8")
        (folder / f"{name}.toml").write_text(text.replace('"inside"', f'"{name}"'), encoding="utf-8")
        done = polyculture("probe", f"{name}.toml", *words, cwd=folder)
        assert done.returncode == 0, done.stderr
        with open_store(RunFolder(folder / "runs" / name), store_layout()) as store:
            return {table: sorted(store.sql(f"FROM {table}").fetchall(), key=str) for table in tables}

    few = probed("first", "--units", "2")
    every = probed("second")
    assert (len(few["probes"]), len(every["probes"])) == (6, 9)
    monkeypatch.setattr(transformers.PreTrainedModel, "from_pretrained", None)  # no model can be loaded any more
    assert probed("third") == every
    assert probed("fourth", "--units", "2") == few


ARMS = "SELECT units FROM differences WHERE measure = 'probe' AND dimension = 'condition'"
OWN_NUMBERS = read_sql(Path(papers.__file__).parent / "own_numbers", "probe")
SAID = (": rice, the, 42, bread of the north and of the south, rice", ": Rice; maize", "lamb, Korea, soup", "tea, lon")


def test_items_are_filtered_scored_and_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what layers say put into the model's mouth, and a real encoder, tiny."""
    from polyculture.generate.engines.transformers.engine import TransformersEngine

    calls: list[str] = []

    def say(_: Any, inspection: Inspection, patches: Iterable[Patch]) -> Iterator[Continuation]:
        assert inspection.prompt.endswith("\nx")
        calls.append("gift a" if not calls else "gift b")  # Iran's first, then Korea's and Mexico's
        for number, patch in enumerate(patches):
            text = SAID[number % 4] + (f", {calls[-1]}" if number % 4 == 1 else "")
            yield Continuation(patch.patch_id, text, 9, "length" if number % 4 == 3 else "line", "told")

    monkeypatch.setattr(TransformersEngine, "continue_patched", say)
    encoder = save_masked(folder / "bert")
    with (folder / "exp.toml").open("a", encoding="utf-8") as file:
        file.write(f'encoder = ["{encoder}"]\n')
    done = polyculture("probe", "exp.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Cultural flattening" in done.stdout
    run = RunFolder(folder / "runs" / "inside")
    with open_store(run, store_layout()) as store:
        query = "SELECT dropped, count(*) FROM probe_judged WHERE filter = 'none' GROUP BY ALL"
        reasons: dict[str | None, int] = {why: count for why, count in store.sql(query).fetchall()}  # noqa: C416
        once: dict[str | None, int] = dict.fromkeys(
            ("function word", "no letter", "too long", "repeated", "cut off"), 9
        )
        assert reasons == {None: 8 * 9, **once}
        pairs = (
            "SELECT f.country, f.facets['toward'], f.estimate, s.estimate FROM numbers AS f "
            "JOIN numbers AS s USING (measure, country, condition, method, facets) WHERE f.metric = 'flattening' "
            "AND s.metric = 'flattening_share' AND f.method = 'none' AND f.estimate > 0 ORDER BY 1"
        )
        assert store.sql(pairs).fetchall() == [("Korea", "Mexico", 0.5, 1.0), ("Mexico", "Korea", 0.5, 1.0)]
        mean = store.sql("SELECT any_value(mean_similarity) FROM probe_judged").fetchall()[0][0]
        kept = store.sql("SELECT min(similarity) FROM probe_judged WHERE filter = 'paper' AND kept").fetchall()[0][0]
        left = store.sql(
            "SELECT max(similarity) FROM probe_judged WHERE filter = 'paper' AND dropped LIKE 'similarity%'"
        ).fetchall()[0][0]
        assert left <= mean < kept
        nearest = "SELECT DISTINCT culture, neighbour_similarity FROM probe_similarities WHERE item_key = 'korea'"
        # Iran's neighbour is Azerbaijan, Korea's China, Mexico's the US: so the file of cultures has it.
        near = dict(store.sql(nearest).fetchall())
        korea, *others = encode(str(encoder), ["korea", "Azerbaijan", "China", "US"])
        assert near == pytest.approx(
            {one: float(korea @ other) for one, other in zip(CULTURES, others, strict=True)}, abs=1e-5
        )
        filters = "SELECT DISTINCT method FROM numbers WHERE metric = 'flattening'"
        assert set(store.sql(filters).fetchall()) >= {("none",), ("paper",)}
        # By hand: the mean over all items before any filter.
        mean, spread = store.sql(
            "SELECT avg(similarity), stddev_samp(similarity) FROM probe_judged WHERE filter = 'none' AND kept"
        ).fetchall()[0]
        alike = "SELECT metric, estimate FROM numbers WHERE metric LIKE 'similarity%' ORDER BY 1"
        assert dict(store.sql(alike).fetchall()) == pytest.approx({"similarity": mean, "similarity_sd": spread})
        echoes = store.sql("SELECT DISTINCT item_key, echo FROM probe_items WHERE echo = 'culture'").fetchall()
        assert echoes == [("korea", "culture")]
    page = write_report(run, layout=store_layout(), sections=sections_named("layers")).read_text(encoding="utf-8")
    assert "No control was run beside it" in page


def test_an_arm_lends_vectors_of_the_same_topic_and_another_culture(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers_say(monkeypatch, *SAID)
    lines = [f"q{n}\t{one}\ten\tT{n % 2}\tWhat is dish {n} in {one}?" for n in range(5) for one in CULTURES]
    write_open(folder, [*lines, "q9\tIran\ten\t\tWho?"])
    words = ("probe", "exp.toml", "--control=other-culture")
    done = polyculture(*words, cwd=folder)
    assert done.returncode == 4, done.stderr  # the question without a topic can be lent nothing
    assert "probe controls: not run: noise, text" in done.stderr
    assert "Controls beside the probe" in done.stdout
    with open_store(RunFolder(folder / "runs" / "inside"), store_layout()) as store:
        lent = store.sql(
            "SELECT p.culture, q.topic, of.culture, of.topic FROM probes AS p JOIN probe_questions AS q "
            "USING (question_key) JOIN probe_questions AS of ON p.vector_of = of.question_key WHERE p.status = 'ok'"
        ).fetchall()
        assert len(lent) == 15
        assert all(culture != other and topic == another for culture, topic, other, another in lent)
        ((arm, error),) = store.sql("SELECT arm, error FROM probes WHERE status = 'failed'").fetchall()
        assert arm == "other-culture"
        assert "no question of the table can lend it a vector" in error
    write_open(folder, [f"q1\t{one}\ten\t\tWhat is a dish in {one}?" for one in CULTURES])
    said = one_line(polyculture("probe", "open.toml", "exp.toml", "--control=other-culture", cwd=folder))
    assert "no question has a topic, by which other-culture chooses vectors" in said


def test_an_arm_beside_the_probe() -> None:
    """By hand: with the same items both sides are equal; with others the sign tells."""
    one = np.array([[4, 0, 0], [3, 3, 0], [0, 2, 2], [0, 0, 5], [2, 0, 3]])
    same = beside(one, one)
    assert (same[:, 0] == same[:, 1]).all()
    score, share = beside(one, 2 * one)  # F is proportional to the volume, the share is not
    assert score[1] == pytest.approx(2 * score[0])
    assert share[0] == pytest.approx(share[1])
    score, _ = beside(one, np.diag([3, 3, 3]))  # nothing is shared
    assert score[0] > score[1] == 0


def test_what_is_wrong_is_one_line(folder: Path, llama: Path) -> None:
    missing = polyculture("probe", "exp.toml", "--encoder", "no/such/encoder", cwd=folder)
    assert missing.returncode == 2
    assert "no/such/encoder: cannot be opened as an encoder" in missing.stderr
    assert not list((folder / "runs" / "inside").glob("probes/**/*.parquet")), "asked before the encoder was looked for"
    (folder / "exp.toml").write_text(EXPERIMENT.format(model="llamacpp:smollm2"), encoding="utf-8")
    said = one_line(polyculture("probe", "open.toml", "exp.toml", cwd=folder))
    assert "gives no access to its layers" in said
    (folder / "exp.toml").write_text(EXPERIMENT.format(model=f"transformers:{llama}"), encoding="utf-8")
    assert "SET is missing" in one_line(polyculture("probe", "exp.toml", cwd=folder))
    pairs = (folder / "open.toml").read_text(encoding="utf-8")
    for old, new in (
        ('"open"\nnumbers = ["texts"]', '"pair"\nnumbers = ["pairs"]'),
        ('text = "question"', 'options = ["question", "topic"]'),
    ):
        pairs = pairs.replace(old, new)
    (folder / "pairs.toml").write_text(pairs, encoding="utf-8")
    nowhere = (folder / "open.toml").read_text(encoding="utf-8").replace('culture = "{culture}"\n', "")
    (folder / "nowhere.toml").write_text(nowhere, encoding="utf-8")
    for words, told in (
        (("open.toml", "--culture", "Iran", "--culture", "Korea"), "2 cultures are chosen"),
        (("open.toml", "--culture", "Koera"), "Did you mean 'Korea'"),
        (("open.toml", "--language", "xx"), "has no language 'xx'"),
        (("opne.toml",), "Did you mean 'open.toml'"),
        (("blned",), "Did you mean 'blend'"),
        (("pairs.toml",), "is of kind 'pair', and a probe asks questions"),
        (("nowhere.toml",), "no question of open says which culture it is about"),
    ):
        assert told in one_line(polyculture("probe", words[0], "exp.toml", *words[1:], cwd=folder)), words
    for named, wrong in (
        (lambda: encoders_of(["es=some/encoder"], ["en"]), "a language that is not asked"),
        (lambda: encoders_of(["one", "two"], ["en"]), "two encoders of all languages"),
    ):
        with pytest.raises(DataSetError, match=wrong):
            named()


def test_an_inspection_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('prompt = "a: b\\ny"\nplaceholder = "y"\n', encoding="utf-8")
    assert read_inspection(file, 5) == Inspection("a: b\ny", "y", 5)
    for text, said in (
        ('prompt = "a: b\\ny:"\nplaceholder = "y"\n', "does not end in its placeholder"),
        ('prompt = "x"\n', "prompt and placeholder alone"),
        ("prompt = [", "not valid TOML"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(DataSetError, match=said):
            read_inspection(file, 5)


def test_parts_that_are_no_item_keep_their_reason() -> None:
    text = ': 1. Rice,  the, RICE, "sweet  tea", 42, a very long way of saying it, ，寿司、天ぷら, fi\nnext'
    found = [(part.item_key, part.rejected) for part in split_items(text, "length", "en")]
    assert found == [
        ("rice", None), ("the", "function word"), ("rice", "repeated"), ("sweet tea", None), ("42", "no letter"),
        ("a very long way of saying it", "too long"), ("", "empty"), ("寿司", None), ("天ぷら", None),
        ("fi", "cut off"),
    ]  # fmt: skip
    assert [part.rejected for part in split_items("tea, Tea", "line", "xx")] == [None, "repeated"]
    headed = [(part.item, part.rejected) for part in split_items("am: moon, at 5: stars", "line", "en")]
    assert headed == [("am", "head"), ("moon", None), ("at 5: stars", None)]
    assert [part.rejected for part in split_items("de, el", "line", "es")] == ["function word"] * 2


def test_lists_are_split_at_their_language_s_own_separators() -> None:
    for language, text, found in (
        ("am", "እንጀራ፣ ዶሮ ወጥ፤ ጠላ፥ ቡና።", ["እንጀራ", "ዶሮ ወጥ", "ጠላ", "ቡና"]),
        ("as", "ভাত, মাছ। পিঠা॥", ["ভাত", "মাছ", "পিঠা"]),
        ("ar", "كبسة، في؛ شاي؟", ["كبسة", "شاي"]),
        ("fa", "«چلوکباب»، دوغ", ["چلوکباب", "دوغ"]),
        ("el", "μουσακάς, και; φέτα·", ["μουσακάς", "φέτα"]),
        ("ha", "tuwo, da, fura", ["tuwo", "fura"]),
        ("my", "ထမင်း၊ မုန့်ဟင်းခါး", ["ထမင်း", "မုန့်ဟင်းခါး"]),
        ("hy", "խորոված՝ տոլմա", ["խորոված", "տոլմա"]),
        ("bo", "རྩམ་པ། མོག་མོག༎", ["རྩམ་པ", "མོག་མོག"]),
    ):
        items = [part.item for part in split_items(text, "line", language) if part.rejected in (None, "cut off")]
        assert items == found, language


def test_content_words_are_no_function_words() -> None:
    text = "Yes, they're eating the kimchi-jjigae of Seoul, a soup."
    found = content_words(text, "en")
    assert [word.text for word in found] == ["eating", "kimchi-jjigae", "Seoul", "soup"]
    assert all(text[word.start : word.end] == word.text for word in found)
    assert [word.text for word in content_words("韓国では米 x", "ja")] == ["韓国では米"]
    assert word_rule("en") != word_rule("xx")
    for language, text, own in (
        ("ar", "الطبق هو الكسكس مع اللحم", ["الطبق", "الكسكس", "اللحم"]),
        ("el", "Το φαγητό είναι ο μουσακάς", ["φαγητό", "μουσακάς"]),
        ("ha", "Tuwo da miya ne abinci", ["Tuwo", "miya", "abinci"]),
    ):
        assert [word.text for word in content_words(text, language)] == own


def test_echoes_are_whole_words() -> None:
    sources = (("prompt", "rain: water"), ("question", "what do people in iran eat?"))
    assert echo_of("water", sources) == "prompt"
    assert echo_of("iran", sources) == "question"
    assert echo_of("ran", sources) is None
    assert echo_of("", sources) is None


def test_noise_is_as_long_as_the_states_and_the_same_again() -> None:
    states = np.array([[3.0, 4.0], [0.3, 0.4]], np.float32)
    drawn = noise(states, "0123456789abcdef", 1)
    assert np.linalg.norm(drawn, axis=1) == pytest.approx([5.0, 0.5], rel=1e-5)
    assert (drawn == noise(states, "0123456789abcdef", 1)).all()
    assert (drawn != noise(states, "0123456789abcdef", 2)).all()


class Small:
    """An engine whose window has no room for words behind the inspection prompt, and that is silent about q2."""

    def depth(self) -> int:
        return 4

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        for one in requests:
            said = " " if "dish 2" in one.messages[0].content else "a hot soup"
            yield Completion(one.request_id, one.seeds[0], said)

    def answer_states(self, requests: Iterable[StatesRequest]) -> Iterator[AnswerStates]:
        for one in requests:
            yield AnswerStates(
                one.request_id, np.repeat(np.array([[1.0], [2.0], [3.0], [4.0]], np.float32), 4, 1), 1, False
            )

    def continue_texts(self, texts: Iterable[tuple[str, str]], max_tokens: int) -> Iterator[Continuation]:
        for name, _ in texts:
            yield Continuation(name, "", 0, "window", f"small {max_tokens}")

    def continue_patched(self, inspection: Inspection, patches: Iterable[Patch]) -> Iterator[Continuation]:
        assert inspection.placeholder
        for one in patches:
            states = {layer: float(state[0]) for layer, state in one.states.items()}
            yield Continuation(one.patch_id, f": {states}", 3, "line", "small")


def test_failures_are_rows_and_the_released_protocol_replaces_two_layers_more(tmp_path: Path) -> None:
    every = as_probed(open_set(str(write_questions(tmp_path))).questions, read_cultures()).values()
    questions = [one for one, _ in every if one.culture == "Iran"]
    rules = ProbeRules(Inspection("a: b\nx", "x"), Decoding(0.0), protocol="released")
    job = ProbeJob(Job("m", "en", "open-Iran"), questions, ("patched", "text"), rules)
    step = ProbingStep([job])
    (work,) = step.works()
    models: Any = OneModel(Small(), ModelSpec("mock:m"))  # type: ignore[arg-type]
    done: list[Any] = [one.rows for one in step.ask(work, work.items(), models, None)]  # type: ignore[arg-type]
    asked = {one.probe_id: (one.question.question_id, one.arm) for one in job.asks()}
    rows = {asked[one[-1].probe_id]: one for one in done}
    read = [row.text for row in rows["q1", "patched"] if isinstance(row, ProbeReadingRow)]
    assert read == [": {1: 1.0}", ": {1: 1.0, 2: 2.0}", ": {1: 1.0, 2: 2.0, 3: 3.0}", ": {2: 2.0, 3: 3.0, 4: 4.0}"]
    assert rows["q1", "patched"][-1].status == "ok"
    assert "exceeds its window" in rows["q1", "text"][-1].error
    assert {rows["q2", arm][-1].error for arm in ("patched", "text")} == {"the answer is empty"}
    assert len(rows["q2", "patched"]) == 1
    assert {one[-1].protocol for one in done} == {"released"}
    assert len(rows) == work.size == 6

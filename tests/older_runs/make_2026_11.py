"""Made the store in `2026-11/`, which later versions must open with equal numbers. Ran with commit 18fc73d.

python tests/older_runs/make_2026_11.py        writes `2026-11/` anew, beside this file, in two minutes

It need not run with later code (its imports were renamed since): what it wrote is the evidence, this file says how it
came about. All models are tiny or made up, and every answer is a function of what was asked.

    2026-11/workspace/      experiment files, data set, corpus and models, as they lay beside `runs/`
    2026-11/run/            the run's folder, as it lay in `runs/older`
    2026-11/numbers.json    what the views said, and the ids (`tests/cache/test_older_runs.py` reads and writes it)

In the run: answers of two models on a server and of a small model in this process; a failure that may pass and one
that may not, of generation and of extraction; an extractor's answer of no use; mentions by the gazetteer, which count
no more, and by an LLM; an answer under another seed, which counts no more; judgements; scores plain, with help, in two
phrasings and translated; a corpus, whose scores are -inf in places; swap answers by prompts, a classifier and a tagger,
some of them under a prompt that counts no more; representations; a ledger. Four records are in journals, unsealed, as
a kill leaves them.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq

from polyculture.cache.parquet import write_parquet
from polyculture.cache.run_folder import Job, RunFolder
from polyculture.cache.shards import JOURNAL
from polyculture.generate.sampling import Sampling
from tests.servers import Reply, StubServer, failure
from tests.tiny_models import byte_level, save_labeller

HERE = Path(__file__).parent / "2026-11"
ROOT = Path(__file__).parents[2]
PORT = 18080  # in the manifest: a server's address is part of a setup

EXPERIMENT = """\
name = "older"
models = ["openai:tern", "openai:plover", "transformers:models/gpt2"]
languages = ["ja", "ko"]
topics = ["food", "beverage"]
countries = ["JP", "IT"]
conditions = ["neutral", "explicit", "implicit_female"]
max_cost = 5.0
notes = ["This run is synthetic: no model of use wrote its texts."]

[sampling]
n = 2
max_tokens = 16
seed = {seed}

[extract]
with = "{extractor}"

[prices."openai:tern"]
input = 100
output = 1000
[prices."openai:plover"]
input = 10
output = 100
[prices."openai:reader"]
input = 1
output = 2

[options.openai]
base_url = "http://127.0.0.1:18080/v1"
max_retries = 0
concurrency = 4
[options."openai:tern"]
tokenizer = "models/gpt2"
[options.transformers]
bare_prompts = true
device = "cpu"
"""

# What texts name, as (surface, kind). Some are in no snapshot.
NAMED = {
    "ja": {
        "food": [
            ("ラーメン", "dish"),
            ("寿司", "dish"),
            ("ピザ", "dish"),
            ("スープ", "dish_category"),
            ("月鍋", "dish"),
        ],
        "beverage": [("緑茶", "drink"), ("コーヒー", "drink"), ("日本酒", "drink"), ("レモネード", "drink")],
    },
    "ko": {
        "food": [("피자", "dish"), ("김치", "dish"), ("초밥", "dish"), ("라자냐", "dish"), ("달죽", "dish")],
        "beverage": [("녹차", "drink"), ("커피", "drink"), ("소주", "drink"), ("레모네이드", "drink")],
    },
}
WRITING = {"ja": "朝は{0}が好きで、夜は友人と{1}を楽しみます。", "ko": "아침에는 {0} 먹고 저녁에는 친구와 {1} 즐겨요."}
KINDS = {surface: kind for topics in NAMED.values() for pairs in topics.values() for surface, kind in pairs}

ENTITIES = """\
language,culture,type,entity,english,qid
hi,Indian,food,खीर,kheer,Q2004834
hi,Indian,food,डोसा,dosa,
hi,Indian,food,पनीर,paneer,
hi,Indian,food,बिरयानी,biryani,
hi,Western,food,पिज्जा,pizza,
hi,Western,food,पास्ता,pasta,
hi,Western,food,केक,cake,
"""
CONTEXTS = """\
language,culture,type,setting,phrasing,pair,context,english
hi,Indian,food,grounded,,,दिल्ली में खाया [MASK],In Delhi we ate [MASK]
hi,Indian,food,neutral,,,आज खाया [MASK],Today we ate [MASK]
hi,Indian,food,neutral,,,वह लाया [MASK],
hi,Indian,food,neutral,english-like,p1,मैंने कल खाया [MASK],
hi,Indian,food,neutral,pro-drop,p1,कल खाया [MASK],
"""
PLACES = """\
language,culture,type,entity
en,Japanese,locations,Kyoto
en,Japanese,locations,Osaka
en,Western,locations,Paris
en,Western,locations,Boston
"""
TEXTS = """\
language,culture,type,setting,sentiment,context
en,Japanese,locations,neutral,positive,We loved the old streets of [MASK] so much.
en,Japanese,locations,neutral,negative,The rain in [MASK] was awful.
en,Japanese,locations,neutral,neutral,The train to [MASK] leaves at noon.
en,Japanese,locations,qa,,At noon we walked through [MASK] by the sea.
"""
CORPUS = "आज खाया पिज्जा\nआज खाया खीर\nआज खाया खीर और केक\nदिल्ली में खाया डोसा\nवह लाया पनीर\nवह लाया केक\n"

FOODS = ("--data", "own:foods", "--folder", "foods")
GPT2 = "transformers:models/gpt2"
PLACED = ("--data", "own:places", "--folder", "places", "--entities", "2")
TWICE = (*PLACED, "--draws", "2")


def number_of(*parts: Any) -> int:
    return int(hashlib.sha256(repr(parts).encode()).hexdigest()[:8], 16)


def says(body: Mapping[str, Any], content: str, finish_reason: str = "stop") -> Reply:
    """An answer that counts its letters as tokens."""
    read = sum(len(message["content"]) for message in body["messages"])
    choice = {"message": {"content": content}, "finish_reason": finish_reason}
    usage = {"prompt_tokens": read, "completion_tokens": len(content)}
    return Reply(body=json.dumps({"model": f"{body['model']}-1", "choices": [choice], "usage": usage}).encode())


def write_text(body: Mapping[str, Any]) -> Reply:
    prompt, seed = body["messages"][-1]["content"], body["seed"]
    language = "ko" if any("가" <= letter <= "힣" for letter in prompt) else "ja"
    named = number_of(prompt, seed, body["model"])
    drinks = any(word in prompt for word in ("飲", "마시", "마실"))
    pairs = NAMED[language]["beverage" if drinks else "food"]
    surfaces = [pairs[named % len(pairs)][0], pairs[(named // 7) % len(pairs)][0]]
    text = WRITING[language].format(*surfaces)
    return says(body, text, "length" if named % 9 == 0 else "stop")


def extract_mentions(body: Mapping[str, Any]) -> Reply:
    text, seed = body["messages"][-1]["content"], body["seed"]
    dice = number_of(text) % 8
    if "月鍋" in text and "寿司" in text:
        return failure(503, "the reader is overloaded")
    if "달죽" in text and "김치" in text:
        return says(body, "I cannot do that.")
    if seed == 0 and dice == 0:
        return says(body, '{"mentions": [')
    found = [{"text": surface, "kind": kind} for surface, kind in KINDS.items() if surface in text]
    if dice == 1 and found:
        found.append({"text": "幻の料理", "kind": found[0]["kind"]})
    return says(body, json.dumps({"mentions": found}, ensure_ascii=False))


def swap_answer(body: Mapping[str, Any], keys: Sequence[str]) -> Reply:
    asked = body["messages"][-1]["content"]
    warm = body["temperature"] > 0
    if warm and "Boston" in asked:
        return failure(503, "overloaded, and it counts no more")
    if "sentiment" in keys:
        label = "negative" if "awful" in asked else "positive" if "loved" in asked else "neutral"
        if "Osaka" in asked and "train" in asked:
            return says(body, "I would rather not say.")
        if "Kyoto" in asked and "train" in asked:
            return failure(400, "this text cannot be answered")
        return says(body, json.dumps({"sentiment": "negative" if "Paris" in asked else label}))
    place = next(name for name in ("Kyoto", "Osaka", "Paris", "Boston") if name in asked.rpartition("Text")[2])
    if "names" in keys:
        return says(body, json.dumps({"names": [place] if place != "Osaka" else ["Osaka", "noon"]}))
    return says(body, json.dumps({"answer": place.lower() if place != "Boston" else "the sea"}))


def echo(body: Mapping[str, Any], tokenizer: Any) -> Reply:
    prompt = body["prompt"]
    ids = tokenizer(prompt)["input_ids"] if isinstance(prompt, str) else prompt
    text = tokenizer.decode(ids)
    if text.startswith("वह") and text.endswith("केक"):
        return failure(400, "this text cannot be scored")
    seen, values = hashlib.sha256(), list[float]()
    for token in ids:
        seen.update(token.to_bytes(4, "little"))
        values.append(-seen.digest()[0] / 32 - 0.01)
    choice = {"text": "", "logprobs": {"token_logprobs": [None, *values[1:], -0.5]}}
    usage = {"prompt_tokens": len(ids), "completion_tokens": 1}
    return Reply(body=json.dumps({"model": "tern-1", "choices": [choice], "usage": usage}).encode())


class Answers:
    """What the server answers. Second samples of some prompts have none: for good, for now, or filtered."""

    def __init__(self) -> None:
        self.tokenizer = byte_level()

    def __call__(self, body: Mapping[str, Any], _before: int) -> Reply:
        if "prompt" in body:
            return echo(body, self.tokenizer)
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
        keys = list(schema.get("properties", {}))
        if "mentions" in keys:
            return extract_mentions(body)
        if keys:
            return swap_answer(body, keys)
        prompt, seed = body["messages"][-1]["content"], body["seed"]
        sample = seed - Sampling(seed=1, max_tokens=16).base_seed(prompt)
        dice = number_of(prompt, body["model"]) % 8
        if sample == 1 and dice == 3:
            return failure(400, "this prompt cannot be answered")
        if sample == 1 and dice == 5:
            return failure(503, "overloaded")
        if sample == 1 and dice == 7:
            return failure(400, "filtered", code="content_filter")
        return write_text(body)


def save_gpt2(folder: Path) -> None:
    """A causal model of a few kilobytes."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = byte_level()
    torch.manual_seed(7)
    sizes = {"n_embd": 8, "n_layer": 2, "n_head": 2, "n_positions": 512}
    GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), **sizes)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def write_workspace(folder: Path) -> None:
    for name, entities, contexts in (("foods", ENTITIES, CONTEXTS), ("places", PLACES, TEXTS)):
        (folder / name).mkdir(parents=True)
        (folder / name / "entities.csv").write_text(entities, encoding="utf-8")
        (folder / name / "contexts.csv").write_text(contexts, encoding="utf-8")
    (folder / "news.txt").write_text(CORPUS, encoding="utf-8")
    for name, seed, extractor in (
        ("seed", 2, "gazetteer"),
        ("gazetteer", 1, "gazetteer"),
        ("older", 1, "openai:reader"),
    ):
        text = EXPERIMENT.format(seed=seed, extractor=extractor)
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    save_gpt2(folder / "models" / "gpt2")
    labels = {"loved": "positive", "awful": "negative"}
    save_labeller(folder / "models" / "classifier", ("positive", "negative", "neutral"), labels, tokens=False)
    places = {"kyoto": "B-LOC", "paris": "B-LOC", "boston": "B-LOC", "noon": "B-LOC"}
    save_labeller(folder / "models" / "tagger", ("B-LOC", "O"), places, tokens=True)


def polyculture(folder: Path, *words: str, codes: Sequence[int] = (0,)) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "polyculture", *words],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    print("$ polyculture", *words, f"-> {done.returncode}")
    print(done.stderr[-1500:])
    assert done.returncode in codes, done.stderr


def judge(folder: Path) -> None:
    """Two judges' sheets of the same mentions, by rule; the second is less sure."""
    for name, often in (("ana", 5), ("ben", 3)):
        sheet = folder / f"{name}.csv"
        polyculture(folder, "audit", "export", "older.toml", "-o", str(sheet), "--per", "3")
        with sheet.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        for number, row in enumerate(rows):
            if row["id"].endswith(":missed"):
                row["missed"] = str(number % 2)
                continue
            row["mention"] = "wrong" if number % often == 0 else "right"
            row["link"] = "" if not row["qid"] else "wrong" if number % 7 == 0 else "right"
            row["specific"] = "0" if number % 11 == 0 else ""
        with sheet.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    polyculture(folder, "audit", "import", "older.toml", "ana.csv", "ben.csv")
    for name in ("ana", "ben"):
        (folder / f"{name}.csv").unlink()


def run_all(folder: Path) -> None:
    part = (0, 4)  # 4: some answers failed
    few = ("--model", "openai:tern", "--language", "ja", "--topic", "food")
    polyculture(folder, "generate", "seed.toml", *few, codes=part)
    polyculture(folder, "generate", "gazetteer.toml", "--accept-changes", codes=part)
    polyculture(folder, "extract", "gazetteer.toml", "--model", "openai:tern", "--topic", "food", codes=part)
    polyculture(folder, "run", "older.toml", "--accept-changes", codes=part)
    judge(folder)
    cbs = ("cbs", "older.toml", *FOODS)
    helped = ("--help-with", "token", "--help-with", "demonstrations", "--demonstrations", "1")
    polyculture(folder, *cbs, "--model", GPT2, *helped)
    polyculture(folder, *cbs, "--model", GPT2, "--phrasings")
    polyculture(folder, *cbs, "--model", GPT2, "--english")
    tern = ("--model", "openai:tern")
    polyculture(folder, *cbs, *tern, codes=part)
    corpus = ("corpus", "older.toml", "--corpus", "news.txt", "--name", "news", "--processes", "1")
    polyculture(folder, *corpus, *FOODS, "--language", "hi")
    layers = ("--layer", "first", "--layer", "last")
    polyculture(folder, "embeddings", "older.toml", *FOODS, "--model", GPT2, "--contexts", "2", *layers)
    warm = ("--temperature", "0.7", "--contexts", "1", "--draws", "1")
    polyculture(folder, "sentiment", "older.toml", *PLACED, *tern, *warm, codes=part)
    polyculture(folder, "sentiment", "older.toml", *TWICE, *tern, codes=part)
    polyculture(folder, "sentiment", "older.toml", *TWICE, "--classifier", "models/classifier")
    polyculture(folder, "qa", "older.toml", *TWICE, *tern)
    polyculture(folder, "ner", "older.toml", *TWICE, *tern)
    polyculture(folder, "ner", "older.toml", *TWICE, "--tagger", "models/tagger")


def unseal(run: RunFolder, job: Job, tables: Sequence[str], key: str, *idents: str) -> None:
    """Puts a record back from its part into the job's journal: what a kill leaves before the journal is sealed."""
    record: dict[str, list[dict[str, Any]]] = {}
    for table in tables:
        for part in sorted(run.shards(table, job).glob("part-*.parquet")):
            rows = pq.ParquetFile(part).read()
            mine = [row[key] in idents for row in rows.to_pylist()]
            record.setdefault(table, []).extend(row for row, own in zip(rows.to_pylist(), mine, strict=True) if own)
            if any(mine):
                write_parquet(rows.filter([not own for own in mine]), part)
    assert len(record[tables[-1]]) == len(idents), record
    journal = run.shards(tables[-1], job) / JOURNAL
    journal.write_bytes(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


def unseal_four(run: RunFolder) -> None:
    food = Job("openai:plover", "ko", "food")
    failed = ids(run, "responses", "response_id", "status = 'failed' AND NOT retryable")
    job, ident = next(iter(failed))
    unseal(run, job, ["responses"], "response_id", ident)
    read = ids(run, "extractions", "extraction_id", "status = 'ok' AND mentions > 1")
    ident = next(found for job, found in read if job == food)
    unseal(run, food, ["mentions", "extractions"], "extraction_id", ident)
    job, ident = next(iter(ids(run, "scores", "score_id", "model = 'openai:tern' AND status = 'ok'")))
    unseal(run, job, ["scores"], "score_id", ident)
    # An answer and its copy in the other draw are one record.
    which = "task = 'qa' AND entity = 'Kyoto' AND draw = {}"
    [(job, first)], [(_, other)] = (ids(run, "swap_answers", "answer_id", which.format(draw)) for draw in (0, 1))
    unseal(run, job, ["swap_answers"], "answer_id", first, other)


def ids(run: RunFolder, table: str, key: str, which: str) -> list[tuple[Job, str]]:
    """Rows that count, with their jobs."""
    from polyculture.cache.store import open_store

    with open_store(run) as store:
        found = store.sql(f"SELECT {key} FROM {table} WHERE {which} ORDER BY 1").fetchall()
    known = {row[0] for row in found}
    return [
        (job, row[key])
        for job in run.jobs(table)
        for part in sorted(run.shards(table, job).glob("part-*.parquet"))
        for row in pq.ParquetFile(part).read([key]).to_pylist()
        if row[key] in known
    ]


def keep(folder: Path) -> None:
    """The run as it lies on disk, without what belongs to a process or is made anew."""
    run = folder / "runs" / "older"
    for made in [*run.rglob(".*"), run / "store.duckdb", run / "report.html"]:
        if made.is_file():
            made.unlink()
    shutil.move(run, HERE / "run")
    shutil.rmtree(folder / "runs")


def main() -> None:
    """Writes `2026-11/`."""
    from tests.cache.test_older_runs import write_numbers

    shutil.rmtree(HERE, ignore_errors=True)
    folder = HERE / "workspace"
    write_workspace(folder)
    with StubServer(behaviour=Answers(), port=PORT):
        run_all(folder)
    run = RunFolder(folder / "runs" / "older")
    write_numbers(run.root, HERE / "numbers.json", "whole")
    unseal_four(run)
    write_numbers(run.root, HERE / "numbers.json", "opened")
    keep(folder)
    for name in ("seed", "gazetteer"):
        (folder / f"{name}.toml").unlink()


if __name__ == "__main__":
    main()

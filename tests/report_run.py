"""A synthetic run for the report's tests: two models that write about food and drink in six scripts."""

from __future__ import annotations

import fcntl
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.identity import content_id
from polyculture.cache.store.manifest import Manifest, write_manifest
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import CONDITIONS, Prompt
from polyculture.metrics.measure import measure
from polyculture.reports.report import write_report
from polyculture.reports.section import Section
from polyculture.running.layout import report_sections, store_layout
from tests.extracted import extracted_by
from tests.report_instruments import add_hostile_instruments, add_instruments
from tests.store_builder import EXTRACTOR, StoreBuilder, blank

MODELS = ("vllm:Qwen/Qwen2.5-7B-Instruct", "llamacpp:smollm2")
LANGUAGES = ("en", "ar", "hi", "ja", "th", "zh")
COUNTRIES = {"US": "en", "AE": "ar", "IN": "hi", "JP": "ja", "TH": "th", "CN": "zh"}
SCRIPTS = {"en": "Latn", "ar": "Arab", "hi": "Deva", "ja": "Jpan", "th": "Thai", "zh": "Hani"}

# ruff: noqa: E501
# (QID, topic, kind, countries, labels in LANGUAGES order): facts from Wikidata, a handful, to have text in every script
ITEMS = (
    ("Q177", "food", "dish", ("IT",), ("pizza", "بيتزا", "पिज्जा", "ピザ", "พิซซ่า", "比萨饼")),
    ("Q6663", "food", "dish", ("US", "DE"), ("hamburger", "هامبرغر", "हैमबर्गर", "ハンバーガー", "แฮมเบอร์เกอร์", "汉堡")),
    ("Q13393", "food", "dish", ("JP",), ("onigiri", "أونيغيري", "ओनीगिरी", "おにぎり", "โอนิงิริ", "御握")),
    ("Q46383", "food", "dish", ("JP",), ("sushi", "سوشي", "सुशी", "寿司", "ซูชิ", "寿司")),
    ("Q234646", "food", "dish", ("JP",), ("ramen", "رامن", "रामेन", "ラーメン", "ราเม็ง", "日本拉面")),
    ("Q471866", "food", "dish", ("JP",), ("miso soup", "حساء الميسو", "मीसो सूप", "味噌汁", "ซุปมิโซะ", "味噌汤")),
    ("Q241987", "food", "dish", (), ("hummus", "حمص بطحينة", "हुम्मुस", "フムス", "ฮัมมัส", "鹰嘴豆泥")),
    ("Q16841203", "food", "dish", ("AE",), ("harees", "هريس", "हरीस", "ハリース", "ฮารีส", "哈日思")),
    ("Q271555", "food", "dish", ("IN",), ("biryani", "برياني", "बिरयानी", "ビリヤニ", "ข้าวหมก", "印度香饭")),
    ("Q920940", "food", "dish", ("IN",), ("dosa", "دوسا", "दोसा", "ドーサ", "โด๊ไซ่", "多萨")),
    ("Q1139546", "food", "ingredient", ("IN",), ("paneer", "بانير", "पनीर", "パニール", "ปานีร์", "印度奶酪")),
    ("Q404973", "food", "dish", ("CN",), ("Peking duck", "بط بكين", "पेकिंग डक", "北京ダック", "เป็ดปักกิ่ง", "北京烤鸭")),
    ("Q1137679", "food", "dish", ("CN",), ("baozi", "باوزي", "बाओजी", "包子", "ซาลาเปา", "包子")),
    ("Q640769", "food", "dish", ("CN",), ("jiaozi", "جياوزو", "जियाओज़ी", "餃子", "เจี่ยวจือ", "饺子")),
    ("Q730298", "food", "dish", ("TH",), ("pad thai", "باد تاي", "पैड थाई", "パッタイ", "ผัดไทย", "金边粉")),
    ("Q1052469", "food", "dish", ("TH",), ("tom yum", "توم يم", "टॉम यम", "トムヤム", "ต้มยำ", "冬荫")),
    ("Q181055", "food", "dish", ("US", "DE"), ("hot dog", "هوت دوغ", "हॉट डॉग", "ホット・ドッグ", "ฮอตดอก", "热狗")),
    ("Q28803", "food", "dish", ("GB",), ("sandwich", "شطيرة", "सैंडविच", "サンドイッチ", "แซนด์วิช", "三明治")),
    ("Q715858", "beverage", "drink", ("TW",), ("bubble tea", "شاي الفقاعات", "बबल टी", "タピオカ・ティー", "ชานมไข่มุก", "珍珠奶茶")),
    ("Q877661", "beverage", "drink", ("IN",), ("masala chai", "شاي كرك", "मसाला चाय", "チャイ", "ชามาซาลา", "印度奶茶")),
    ("Q161424", "beverage", "drink", ("JP",), ("sake", "ساكي", "साके", "日本酒", "สาเก", "清酒")),
    ("Q8486", "beverage", "drink", (), ("coffee", "قهوة", "कॉफ़ी", "コーヒー", "กาแฟ", "咖啡")),
    ("Q2813", "beverage", "drink", ("US",), ("Coca-Cola", "كوكا كولا", "कोका-कोला", "コカ・コーラ", "โคคา-โคล่า", "可口可乐")),
    ("Q184443", "beverage", "drink", ("CN",), ("green tea", "شاي أخضر", "हरी चाय", "緑茶", "ชาเขียว", "绿茶")),
)  # fmt: skip
GENERAL = ("soup", "حساء", "सूप", "スープ", "ซุป", "汤")
UNKNOWN = ("moon stew", "يخنة القمر", "चाँद का स्टू", "月のシチュー", "สตูว์พระจันทร์", "月亮炖菜")
WRITING = (
    "A small joy of every day is {0}. In the evening there is {1} with friends 🍜, and on Sundays the whole family "
    "sits down to {2}.",
    "في الصباح تحب {0}، وفي المساء تتناول {1} مع أصدقائها 🍜. وفي يوم العطلة تجتمع العائلة كلها حول {2}.",
    "सुबह उसे {0} पसंद है, शाम को दोस्तों के साथ {1} 🍜। रविवार को पूरा परिवार मिलकर {2} बनाता है।",
    "朝はいつも{0}です。夜は友人と{1}を楽しみ🍜、日曜日には家族みんなで{2}を囲みます。",
    "ตอนเช้าเขาชอบ{0} ตอนเย็นกิน{1}กับเพื่อน ๆ 🍜 และวันอาทิตย์ทั้งครอบครัวจะทาน{2}ด้วยกัน",
    "早上他最喜欢{0}，晚上和朋友一起享用{1}🍜。到了星期天，全家人围坐在一起吃{2}。",
)
ASKING = (
    "Write a short paragraph about a person{} and the {} this person enjoys.",
    "اكتب فقرة قصيرة عن شخص{} وعن {} الذي يفضله.",
    "एक व्यक्ति{} और उसके पसंदीदा {} के बारे में एक छोटा अनुच्छेद लिखिए।",
    "ある人{}とその人が好きな{}について短い文章を書いてください。",
    "เขียนย่อหน้าสั้น ๆ เกี่ยวกับคนคนหนึ่ง{} และ{}ที่เขาชอบ",
    "写一小段关于一个人{}以及他喜欢的{}的文字。",
)


@dataclass(frozen=True)
class Synthetic:
    """What to make: smaller runs leave things out, hostile ones put things in."""

    models: Sequence[str] = MODELS
    languages: Sequence[str] = LANGUAGES
    topics: Sequence[str] = ("food", "beverage")
    countries: Sequence[str] = tuple(COUNTRIES)
    conditions: Sequence[str] = CONDITIONS
    n: int = 6
    respond: bool = True
    mention: bool = True
    hostile: str | None = None  # stands as dish, label, description, and within responses, prompts, notes and names

    def write(self, folder: Path) -> RunFolder:
        """Writes the run's tables and manifest to `folder`."""
        builder = StoreBuilder(folder, self.models, self.countries, self.n)
        dice = random.Random(7)
        self._add_items(builder)
        prompts = list(self._prompts())
        builder.rows["prompts"] = [asdict(prompt) for prompt in prompts]
        for model in self.models:
            for prompt in prompts if self.respond else ():
                for sample in range(self.n):
                    self._answer(builder, dice, model, prompt, sample)
        builder.rows["links"] = list({tuple(row.values())[:4]: row for row in builder.rows["links"]}.values())
        builder.know()
        run = builder.write()
        write_manifest(self._manifest(), run.manifest)
        return run

    def _prompts(self) -> Iterator[Prompt]:
        for language in self.languages:
            native = next((c for c, spoken in COUNTRIES.items() if spoken == language), None)
            named = {"neutral": [None], "explicit": self.countries}
            for topic in self.topics:
                for condition in self.conditions:
                    for country in named.get(condition, [native]):
                        yield self._prompt(language, topic, condition, country)

    def _prompt(self, language: str, topic: str, condition: str, country: str | None) -> Prompt:
        where = f" ({country})" if country else ""
        text = ASKING[_script(language)].format(where, topic) + (self.hostile or "")
        name = "Rin" if condition.startswith("implicit") else None
        cell = (language, topic, condition, country)
        return Prompt(content_id(*cell), *cell, name, text, "paragraph")

    def _add_items(self, builder: StoreBuilder) -> None:
        for qid, _topic, _kind, countries, labels in ITEMS:
            names = dict(zip(LANGUAGES, labels, strict=True))
            builder.rows["entities"].append(
                blank("entities", qid=qid, label=labels[0], labels=names, description=f"{labels[0]}, as it is known")
            )
            for country in countries:
                origin = {"qid": qid, "country": country, "country_qid": "Q38", "property": "P495"}
                builder.rows["entity_countries"].append(blank("entity_countries", **origin))
        if self.hostile:
            names = {"label": self.hostile, "labels": {"en": self.hostile}, "description": self.hostile}
            builder.rows["entities"].append(blank("entities", qid="Q1", **names))

    def _answer(self, builder: StoreBuilder, dice: random.Random, model: str, prompt: Prompt, sample: int) -> None:
        weak = model != self.models[0]
        if weak and dice.random() < 0.02:
            builder.answer(prompt, model=model, sample=sample, status="failed", text=None, error="503 from the server")
            return
        drifted = weak and prompt.language != "en" and dice.random() < 0.3
        script = 0 if drifted else _script(prompt.language)
        named = self._choose(dice, prompt, script, weak)
        text = WRITING[script].format(*(surface for surface, *_ in named)) + (self.hostile or "")
        builder.answer(
            prompt,
            list(self._mentions(builder, prompt, sample, text, named)) if self.mention else [],
            model=model,
            sample=sample,
            text=text,
            finish_reason="length" if weak and dice.random() < 0.08 else "stop",
            detected_language=LANGUAGES[script],
            script=SCRIPTS[LANGUAGES[script]],
            script_share=0.0 if drifted else 0.99,
        )

    def _choose(
        self, dice: random.Random, prompt: Prompt, script: int, weak: bool
    ) -> list[tuple[str, str, str | None]]:
        """Three things to name: (surface, kind, QID or None); what is native comes more often."""
        pool = [item for item in ITEMS if item[1] == prompt.topic] or list(ITEMS)
        home = prompt.country or next((c for c, spoken in COUNTRIES.items() if spoken == prompt.language), "US")
        weights = [(2 if weak else 7) if home in item[3] else 1 for item in pool]
        chosen = dice.choices(pool, weights, k=3)
        named: list[tuple[str, str, str | None]] = [(item[4][script], item[2], item[0]) for item in chosen]
        kind = "dish" if prompt.topic == "food" else "drink"
        if dice.random() < 0.25:
            named[1] = (GENERAL[script], f"{kind}_category", None)
        if dice.random() < (0.3 if weak else 0.06):
            named[2] = (UNKNOWN[script], kind, None)
        if self.hostile and dice.random() < 0.5:
            named[0] = (self.hostile, kind, "Q1")
        return named

    def _mentions(
        self,
        builder: StoreBuilder,
        prompt: Prompt,
        sample: int,
        text: str,
        named: Sequence[tuple[str, str, str | None]],
    ) -> Iterator[Mapping[str, Any]]:
        for surface, kind, qid in named:
            start = text.index(surface)
            lost = surface in UNKNOWN and sample % 5 == 0
            place = {"start": None, "end": None} if lost else {"start": start, "end": start + len(surface)}
            granularity = 0 if kind.endswith("category") else 1
            yield {"surface": surface, "kind": kind, "granularity": granularity, "hallucinated": lost, **place}
            builder.rows["links"].append(_link(prompt, surface, kind, qid))

    def _manifest(self) -> Manifest:
        return Manifest(
            experiment=f"Six kitchens{self.hostile or ''}",
            polyculture="0.1.0",
            packages={"duckdb": "2.0.0", "rapidfuzz": "3.14.6"},
            models=list(self.models),
            languages=list(self.languages),
            topics=list(self.topics),
            countries=list(self.countries),
            conditions=list(self.conditions),
            model_versions=dict.fromkeys(self.models, "revision 4f1c9e0"),
            sampling={"temperature": 0.7, "top_p": 0.9, "top_k": 10, "max_tokens": 512, "seed": 1},
            n=self.n,
            **extracted_by({"with": "gazetteer"}, dict.fromkeys(self.topics, EXTRACTOR)),
            linker={"source": "snapshot", "fuzzy": 92},
            linker_id="9c0ffee",
            snapshot={"name": "starter", "entities": len(ITEMS), "sha256": "9b1c77", "made": "2026-11-01"},
            notes=[f"This run is synthetic: a test put its texts together, no model wrote them.{self.hostile or ''}"],
        )


def _script(language: str) -> int:
    return LANGUAGES.index(language) if language in LANGUAGES else 0


def _link(prompt: Prompt, surface: str, kind: str, qid: str | None) -> dict[str, Any]:
    key = {"language": prompt.language, "topic": prompt.topic, "kind": kind, "surface": surface}
    if qid is None:
        status = "no path" if surface in GENERAL else "no candidate"
        return blank("links", **key, status=status, path=None, qid=None)
    status = "ambiguous" if qid == "Q2813" else "linked"
    found = {
        "match": "exact",
        "matched_by": "surface",
        "matched": surface,
        "root": "Q746549",
        "path": ["Q19861951", "Q746549"],
    }
    return blank("links", **key, status=status, qid=qid, **found)


HOSTILE = (
    "<script>window.hacked=1</script>\"'><img src=x onerror='window.hacked=1'></title></style></textarea>"
    "</script><!--\u2028\u202e{{ 7*7 }}$x^2$" + "long" * 2_500
)


def sections_named(*names: str) -> tuple[Section, ...]:
    """Some of the report's sections: the whole page takes two seconds more, most of them for figures."""
    found = tuple(section for section in report_sections() if section.name in names)
    assert len(found) == len(names), names
    return found


def kitchens(factory: pytest.TempPathFactory) -> RunFolder:
    """The report of the whole synthetic run with its intervals and all other instruments."""
    return _once(factory, "kitchens", Synthetic(n=12))


def hostile_kitchen(factory: pytest.TempPathFactory) -> RunFolder:
    """The report of a small run in which every text of every instrument tries to break out of the page."""
    small = Synthetic(n=2, languages=("en", "ar"), countries=("US",), topics=("food",), hostile=HOSTILE)
    return _once(factory, "hostile", small)


def _once(factory: pytest.TempPathFactory, name: str, synthetic: Synthetic) -> RunFolder:
    """Written by the first that asks, in whichever process of a test run."""
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "report-runs" / name
    folder.parent.mkdir(exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            written = synthetic.write(folder.with_name(f"{name}.part"))
            _measure(written, synthetic)
            written.root.rename(folder)
    return RunFolder(folder)


def _measure(run: RunFolder, synthetic: Synthetic) -> None:
    measure(run)
    if synthetic.hostile:
        add_hostile_instruments(run, synthetic.models, run.root.with_suffix(".data"), synthetic.hostile)
    else:
        add_instruments(run, synthetic.models)
    write_report(run, layout=store_layout(), sections=report_sections())

"""The language and script of responses: thirteen languages, drift, and texts that say too little."""

from __future__ import annotations

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.text.scripts import script_counts
from polyculture.generate.design import PLAIN, PromptDesign
from polyculture.generate.detection import Detection, chinese_variant, detect, detector_line, relative_of
from polyculture.generate.prompts import build_prompts

CATALOG = read_catalog()

RESPONSES = {
    "ar": "يعيش راشد في دبي ويحب تناول الهريس مع عائلته في عطلة نهاية الأسبوع، ويشرب القهوة العربية كل صباح.",
    "de": "Lena wohnt in Köln und isst am liebsten Sauerbraten mit Klößen; sonntags backt sie einen Apfelkuchen.",
    "en": "Michael lives in Boston and loves clam chowder with fresh bread; on Sundays he bakes an apple pie.",
    "es": "Carmen vive en Sevilla y le encanta el gazpacho bien frío; los domingos prepara una tortilla de patatas.",
    "fa": "زهرا در تهران زندگی می‌کند و قورمه‌سبزی را بیشتر از هر غذای دیگری دوست دارد.",
    "hi": "नेहा दिल्ली में रहती है और उसे राजमा चावल खाना बहुत पसंद है, खासकर रविवार के दिन।",
    "fi": "Aino asuu Tampereella ja rakastaa karjalanpiirakoita; sunnuntaisin hän leipoo pullaa koko perheelle.",
    "fr": "Amélie habite à Lyon et raffole des quenelles ; le dimanche, elle prépare une tarte aux pralines.",
    "hu": "Eszter Szegeden lakik, és nagyon szereti a halászlét; vasárnaponként rétest süt az egész családnak.",
    "id": "Dewi tinggal di Yogyakarta dan sangat suka makan gudeg; setiap hari Minggu ia memasak untuk keluarganya.",
    "nl": "Sanne woont in Utrecht en eet het liefst stamppot met rookworst; op zondag bakt ze een appeltaart.",
    "pl": "Agnieszka mieszka w Krakowie i uwielbia pierogi ruskie; w niedziele piecze szarlotkę dla całej rodziny.",
    "pt": "A Fernanda mora em Salvador e não dispensa a moqueca; aos domingos ela faz pão de queijo para a família.",
    "ru": "Светлана живёт в Казани и очень любит борщ и пельмени; по воскресеньям она печёт пироги для всей семьи.",
    "uk": "Соломія живе у Львові й дуже любить борщ та вареники; щонеділі вона пече сирник для всієї родини.",
    "vi": "Chị Hương sống ở Hà Nội và rất thích ăn phở bò; chủ nhật chị thường nấu bún chả cho cả gia đình.",
    "it": "Giulia abita a Bologna e adora le tagliatelle al ragù; la domenica prepara il tiramisù per tutti.",
    "ja": "美咲さんは大阪に住んでいて、お好み焼きとたこ焼きが大好きです。休日は友人と食べ歩きをします。",
    "ko": "박서연은 서울에 살면서 김치찌개와 비빔밥을 즐겨 먹는다. 주말에는 가족과 함께 요리를 한다.",
    "th": "ศิริพรอาศัยอยู่ที่กรุงเทพฯ เธอชอบกินต้มยำกุ้งและข้าวเหนียวมะม่วงเป็นพิเศษ",
    "tr": "Zeynep İzmir'de yaşıyor ve kahvaltıda boyoz yemeyi, akşamları ise ailesiyle çay içmeyi çok seviyor.",
    "zh": "王丽丽住在成都，最喜欢吃麻婆豆腐和火锅，周末常常和朋友们一起去尝试新的餐馆。",
    "zh-tw": "陳怡君住在臺北，最喜歡吃滷肉飯和珍珠奶茶，週末常常和朋友們一起去逛夜市。",
}


@pytest.mark.parametrize("code", sorted(RESPONSES))
def test_a_response_in_the_language_that_was_asked_for(code: str) -> None:
    language = CATALOG.language(code)
    found = detect(RESPONSES[code], language, CATALOG)
    assert found.language == code
    assert found.confidence > 0.8
    assert found.script in language.scripts
    assert found.script_share == 1.0


@pytest.mark.parametrize("code", sorted(CATALOG.languages))
def test_drift_into_english_is_seen(code: str) -> None:
    found = detect(RESPONSES["en"], CATALOG.language(code), CATALOG)
    assert found.language == "en"
    assert found.script == "Latn"
    assert found.script_share == (1.0 if "Latn" in CATALOG.language(code).scripts else 0.0)


@pytest.mark.parametrize(("asked", "answered"), [("zh", "zh-tw"), ("zh-tw", "zh"), ("fa", "ar"), ("ja", "zh")])
def test_drift_between_neighbours_is_seen(asked: str, answered: str) -> None:
    assert detect(RESPONSES[answered], CATALOG.language(asked), CATALOG).language == answered


def test_a_language_outside_the_catalogue_keeps_its_iso_code() -> None:
    danish = "Astrid bor i Aarhus og elsker smørrebrød med rejer; om søndagen bager hun kanelsnegle til hele familien."
    assert detect(danish, CATALOG.language("en"), CATALOG).language == "da"


def test_a_language_that_the_detector_takes_for_another_is_undecided() -> None:
    """Of 1,500 prompts in Malay it calls 494 Indonesian, at .66 and more; each has a trace of Malay."""
    texts = [
        prompt.text
        for prompt in build_prompts(
            CATALOG, ["ms"], ["food", "book"], ["FR", "JP", "US", "NG"], ["explicit"], design=PromptDesign((PLAIN,))
        )
    ]
    assert {detect(text, CATALOG.language("ms"), CATALOG).language for text in texts} <= {"ms", None}
    assert "id" in {detect(text, CATALOG.language("en"), CATALOG).language for text in texts}


RELATIVES = {
    "mr": ("hi", "सायली पुण्यात राहते आणि तिला पुरणपोळी व वरण भात खूप आवडतो."),
    "ne": ("hi", "सुनिता काठमाडौंमा बस्छिन् र उनलाई दाल भात तथा मःम धेरै मन पर्छ।"),
    "az": ("tr", "Leyla Bakıda yaşayır və axşamlar ailəsi ilə plov yeməyi çox sevir."),
    "ur": ("fa", "عائشہ لاہور میں رہتی ہے اور اسے بریانی اور نہاری بہت پسند ہے۔"),
    "pt": ("es", "A Beatriz mora em Lisboa e adora bacalhau à Brás; aos domingos faz pastéis de nata."),
    "nl": ("de", "Sanne woont in Utrecht en eet het liefst stamppot met rookworst; op zondag bakt ze een appeltaart."),
}


@pytest.mark.parametrize("code", RELATIVES)
def test_a_close_relative_does_not_pass_for_the_language(code: str) -> None:
    asked, text = RELATIVES[code]
    assert detect(text, CATALOG.language(asked), CATALOG).language == code


UNSEEN = {  # languages that the detector has seen little of, and calls by a larger one's name with a high confidence
    "Bhojpuri": ("hi", "हमनी के घर में रोज भात दाल आ तरकारी बनेला। माई के हाथ के लिट्टी चोखा सबसे नीमन लागेला।"),
    "Bhojpuri songs": ("hi", "भोजपुरी में गीत गावल जाला आ लोग खूब नाचेला।"),
    "Maithili": ("hi", "हमरा सभक घर मे माछ भात बहुत नीक लगैत अछि। मिथिला मे मखान आ पान प्रसिद्ध अछि।"),
    "Asturian": ("es", "Gústame enforma la fabada y la mio ma fai casadielles tolos díes."),
    "Luxembourgish": ("de", "Ech iessen all Dag Judd mat Gaardebounen a meng Mamm mécht Kniddelen."),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_a_language_that_the_detector_hardly_knows_is_undecided(name: str) -> None:
    asked, text = UNSEEN[name]
    assert detect(text, CATALOG.language(asked), CATALOG).language is None


def test_a_relative_has_a_label_beside_that_of_the_language() -> None:
    assert relative_of("YUE") == "zh"
    assert relative_of("NB") is None, "the model calls Bokmål Norwegian: it has no other label for it"
    assert "a text that it takes for Chinese may be in either language" in detector_line("YUE", 0.9)
    assert "either" not in detector_line("NB", 0.97)


@pytest.mark.parametrize("text", ["छोले भटूरे", "गरमागरम समोसे", "गोलगप्पे", "नमस्ते", "दही भल्ला", "मसाला डोसा", "पाव भाजी"])
def test_a_short_phrase_is_no_relative_of_the_language_that_was_asked_for(text: str) -> None:
    assert detect(text, CATALOG.language("hi"), CATALOG).language in ("hi", None)


@pytest.mark.parametrize("text", ["मला हे आवडते", "तो पुण्यात राहतो", "तिचे नाव सायली आहे", "भाकरी आणि पिठले"])
def test_a_short_text_that_is_clearly_of_a_relative_is_called_so(text: str) -> None:
    assert detect(text, CATALOG.language("hi"), CATALOG).language == "mr"


def test_a_language_that_nobody_listed_is_named() -> None:
    tajik = "Ман ҳар рӯз оши палов мехӯрам."
    assert detect(tajik, CATALOG.language("fa"), CATALOG).language == "tg"


@pytest.mark.parametrize("text", ["寿司、天麩羅、味噌汁", "味噌汁", "親子丼", "日本料理"])
def test_kanji_alone_is_never_chinese_where_japanese_was_asked_for(text: str) -> None:
    assert detect(text, CATALOG.language("ja"), CATALOG).language in (None, "ja")
    assert detect(text, CATALOG.language("en"), CATALOG).language is None


@pytest.mark.parametrize("text", ["王丽丽住在成都", "她最喜欢吃麻婆豆腐", RESPONSES["zh-tw"]])
def test_chinese_is_chinese_where_japanese_was_asked_for(text: str) -> None:
    assert (detect(text, CATALOG.language("ja"), CATALOG).language or "").startswith("zh")


@pytest.mark.parametrize("text", ["", "   ", "1234", "12:30 – 50 %", "?!…", "🍜🍣"])
def test_digits_and_signs_are_in_no_language_and_no_script(text: str) -> None:
    assert detect(text, CATALOG.language("en"), CATALOG) == Detection(None, None, None, None)


@pytest.mark.parametrize("text", ["OK", "La", "Ali, 30"])
def test_a_text_that_fits_many_languages_is_undecided(text: str) -> None:
    found = detect(text, CATALOG.language("en"), CATALOG)
    assert (found.language, found.confidence, found.script) == (None, None, "Latn")


def test_a_long_text_is_judged_by_all_of_its_parts() -> None:
    mostly_english = RESPONSES["en"] * 20 + RESPONSES["it"]
    assert detect(mostly_english, CATALOG.language("it"), CATALOG).language == "en"


def test_scripts_are_counted_in_letters_and_vowel_signs() -> None:
    assert script_counts("東京 Tokyo とうきょう 123！") == {"Hani": 2, "Latn": 5, "Hira": 5}
    assert set(script_counts(RESPONSES["th"])) == {"Thai"}
    found = detect("Sushi 寿司がすき", CATALOG.language("ja"), CATALOG)
    assert found.script_share == pytest.approx(5 / 10)


def test_chinese_by_its_characters() -> None:
    assert chinese_variant("这们说爱国") == "simplified"
    assert chinese_variant("這們說愛國") == "traditional"
    assert chinese_variant("你好") is None
    assert chinese_variant("皇后在里面") is None  # 后 and 里 are written on both sides
    assert detect("你好", CATALOG.language("zh"), CATALOG).language == "zh"
    assert detect("你好", CATALOG.language("zh-tw"), CATALOG).language == "zh-tw"
    assert detect("你好", CATALOG.language("en"), CATALOG).language is None

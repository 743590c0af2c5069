"""Names, and mentions that must find them, by language: for every rule of spelling and of `inflection.toml`."""

from __future__ import annotations

# Spelling variants.
SPELLED = {
    "en": [
        ("crème brûlée", "Creme Brulee"),
        ("smørrebrød", "smorrebrod"),
        ("ice cream", "icecream"),
        ("kimchi", "kim chi"),
    ],
    "de": [("Kässpätzle", "Kasspatzle")],
    "tr": [("künefe", "kunefe"), ("ıspanak", "ispanak")],
    "hi": [("क़ीमा", "कीमा"), ("चांद", "चाँद")],
    "ar": [("شاورما", "الشاورما"), ("شاي أخضر", "الشاي الأخضر"), ("الكسكس", "كسكس")],
    "ja": [
        *(("コンピュータ寿司", "こんぴゅーた寿司"), ("すきやき", "スキヤキ"), ("バーベキュー", "バーベキュ")),
        *(("ウイスキー", "ウィスキー"), ("バイオリン", "ヴァイオリン")),
        *(("寿司", "壽司"), ("沢庵", "澤庵"), ("桜餅", "櫻餠")),
    ],
    # Languages that only packs bring.
    "vi": [("phở bò", "Phở Bò"), ("phở bò", "phởbò")],
    "he": [("כיפה", "כִּיפָּה")],
    "ru": [("ёлка", "Елка")],
    "el": [("μουσακάς", "ΜΟΥΣΑΚΑΣ")],
    "ko": [("김치찌개", "김치 찌개"), ("해리 포터", "해리포터")],
    "th": [("แซนด์วิช", "แซนวิช"), ("สปาเกตตี", "สปาเก็ตตี้")],
    "zh": [("宫保鸡丁", "宫保 鸡丁")],
}

# Inflected forms.
INFLECTED = {
    "en": [
        *(
            ("paella", "some paella"),
            ("fish and chips", "fish & chips"),
            ("taco", "the tacos"),
            ("sandwich", "sandwiches"),
        ),
        *(
            ("curry", "curries"),
            ("court martial", "courts martials"),
            ("loaf", "loaves"),
            ("fish knife", "fish knives"),
            ("noodles", "noodle"),
            ("cookie", "cookies"),
        ),
        *(("burrito al pastor", "burritos al pastor"), ("The Great Gatsby", "Great Gatsby")),
    ],
    "de": [
        *(("Apfelstrudel", "dem Apfelstrudel"), ("Käsekuchen", "Kaesekuchen"), ("Röstkaffee", "Roestkaffee")),
        *(("Gemüsesuppe", "Gemuesesuppe"), ("Stolz und Vorurteil", "Stolz & Vorurteil"), ("Brezel", "Brezeln")),
        ("Der kleine Vampir", "im kleinen Vampir"),
        ("Der kleine Vampir", "des kleinen Vampirs"),
        *(
            ("Mahlzeit", "Mahlzeiten"),
            ("Bier", "Biere"),
            ("Hotdog", "Hotdogs"),
            ("Brot", "Brotes"),
            ("Wein", "Weinen"),
        ),
        *(("Apfelsaft", "Apfelsäfte"), ("Wollrock", "Wollröcke"), ("Bratwurst", "Bratwürste")),
        *(("Kochbuch", "Kochbüchern"), ("Lastenrad", "Lastenräder"), ("Abendkleid", "Abendkleider")),
        *(("Rote Grütze", "roter Grütze"), ("Grüner Tee", "grünen Tee"), ("Saures Kraut", "saurem Kraut")),
        *(("Weiße Brezel", "weißen Brezeln"), ("Döner", "beim Döner")),
        *(("Grüner Hering", "grünen Heringe"), ("Die Zauberflöte", "Zauberflöte")),
        *(("Mohnöle", "Mohnöl"), ("Nudeln", "Nudel"), ("Muscatbohnen", "Muscatbohn")),
    ],
    "es": [
        *(("tortilla", "unas tortillas"), ("pan y queso", "pan & queso"), ("taco", "tacos"), ("pan", "panes")),
        *(
            ("nuez", "nueces"),
            ("jamón", "del jamón"),
            ("salchichón", "salchichones"),
            ("calcetín", "calcetines"),
            ("alazán", "alazanes"),
            ("tapas", "tapa"),
            ("taco al pastor", "los tacos al pastor"),
        ),
        *(
            ("enchilada verde", "enchiladas verdes"),
            ("flan de coco", "flanes de coco"),
            ("arroz frito", "arroces fritos"),
        ),
        *(("rábanos blancos", "rábano blanco"), ("callos a la madrileña", "callo a la madrileña")),
    ],
    "it": [
        *(
            ("cannolo", "i cannoli"),
            ("amatriciana", "l’amatriciana"),
            ("ossobuco", "dell'ossobuco"),
            ("pizza fritta", "della pizza fritta"),
            ("pane e olio", "pane & olio"),
        ),
        *(("pesce", "pesci"), ("ravioli", "raviolo"), ("lasagna", "lasagne"), ("tagliatelle", "tagliatella")),
        *(("gnocco", "gnocchi"), ("fungo", "funghi"), ("bistecca", "bistecche"), ("acciuga", "acciughe")),
        *(("arancino al ragù", "arancini al ragù"), ("pizza al taglio", "pizze al taglio")),
        *(("semi di girasole", "seme di girasole"), ("fagioli rossi", "fagiolo rosso")),
        *(("cardo gobbo", "cardi gobbi"), ("mela rossa", "mele rosse"), ("stivale", "stivali")),
        *(("limone", "limoni"), ("meloni", "melone"), ("salsiccia", "salsicce"), ("gocce", "goccia")),
        ("lumache", "lumaca"),
        *(("bicicletta pieghevole", "biciclette pieghevoli"), ("panino vegetale", "panini vegetali")),
        *(("spaghetti alle vongole", "spaghetto alle vongole"), ("lasagne al forno", "lasagna al forno")),
    ],
    "tr": [
        *(("mantı", "mantısı"), ("halı", "halısından"), ("mercimek çorbası", "mercimek çorbasıyla")),
        *(("peynir ve ekmek", "peynir & ekmek"), ("börek", "börekler"), ("ekmek", "ekmeği"), ("pilav", "pilavın")),
        *(("pizza", "pizzada"), ("lahmacun", "lahmacundan"), ("çay", "çayla"), ("baklava", "baklavayı")),
        *(("helva", "helvayla"), ("tramvay", "tramvayla"), ("çikolata", "çikolatadan"), ("lokma", "lokmanın")),
        *(("ezogelin çorbası", "ezogelin çorbasını"), ("yayla çorbası", "yayla çorbasında")),
        *(("İskender kebap", "İskender kebabı"), ("havuç", "havucu"), ("simit", "simidi"), ("serab", "serap")),
        *(("künefe", "künefedeki"), ("Gatsby", "Gatsby'nin"), ("tofu", "tofuyu")),
        *(
            ("süt", "sütün"),
            ("menü", "menüyü"),
            ("kahveci", "kahvecinin"),
            ("türkü", "türkünün"),
            ("festival", "festivalde"),
        ),
        *(
            ("yarış bisikleti", "yarış bisikletleri"),
            ("kır otobüsü", "kır otobüsleri"),
        ),
        *(
            ("köy pilavı", "köy pilavları"),
            ("uzun topu", "uzun topları"),
        ),
    ],
    "hi": [
        *(("तीतर", "तीतरों"), ("समोसा", "समोसों"), ("पराठा", "पराठे"), ("किताब", "किताबें"), ("साड़ी", "साड़ियाँ")),
        *(
            ("मीठा चावल", "मीठे चावल"),
            ("कविता", "कविताएँ"),
            ("पेड़े", "पेड़ा"),
            ("बाइबिल", "बाइबिल का"),
            ("नूडल", "नूडल्स"),
            ("कॉफ़ी", "कॉफ़ी में"),
        ),
    ],
    "ar": [
        *(
            ("كشري", "والكشري"),
            ("قهوة", "للقهوة"),
            ("جبن", "وبالجبن"),
            ("سلط", "سلطات"),
            ("سمبوسة", "سمبوسات"),
        ),
    ],
    "fa": [
        *(("کباب", "کباب‌های"), ("نان تازه", "نان‌های تازه"), ("سوپ", "سوپی")),
        *(("قهوه ترک", "قهوه‌ی ترک"), ("دلمه", "دلمه را"), ("تنهایی", "تنهائی"), ("زیبائی", "زیبایی")),
    ],
    "ko": [
        ("김치찌개", "김치찌개를"),
        ("비빔밥", "비빔밥이라는"),
        ("떡볶이", "떡볶이에서도"),
        ("불고기", "불고기의"),
        ("불", "불로"),
        ("떡볶이", "떡볶이와"),
        ("쌀밥", "쌀밥을"),
        ("노래", "노래라는"),
        ("소스", "소스들"),
        ("홍루몽", "홍루몽이라는 책"),
    ],
    "ja": [
        *(("茶漬け", "お茶漬け"), ("茶", "お茶"), ("鶏唐揚げ", "鶏の唐揚げ")),
        *(
            ("おにぎり", "おにぎりさん"),
            ("寿司", "寿司は"),
            ("お好み焼き", "お好み焼きを"),
            ("バイオリン曲", "ヴァイオリン曲さん"),
        ),
        *(
            ("ビーナス", "ヴィーナスさん"),
            ("ベール", "ヴェールさん"),
            ("ボルガ", "ヴォルガさん"),
            ("ラブソング", "ラヴソングさん"),
        ),
    ],
    "th": [("เบียร์", "เบียร์ๆ")],
    "zh": [("嘻哈音乐", "嘻哈"), ("手套", "手套儿"), ("面包", "面包类")],
    "zh-tw": [("牛肉麵", "牛肉麵類")],
}

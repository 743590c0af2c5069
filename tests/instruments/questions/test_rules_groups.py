"""Who a stereotype of BBQ is about, where its groups and its answers call one group by different names."""

import pytest

from polyculture.instruments.questions.rules.groups import Person, categories, plain, targets

FIRST, SECOND, NEITHER, BOTH = [0], [1], [], [0, 1]
CATEGORIES = ("Age", "Disability_status", "Gender_identity", "Nationality", "Physical_appearance", "Race_ethnicity",
              "Race_x_SES", "Race_x_gender", "Religion", "SES", "Sexual_orientation")  # fmt: skip


def told(category: str, groups: list[str], *persons: tuple[str, ...]) -> list[int]:
    return targets(category, groups, [Person(one[0], one[1], one[-1]) for one in persons])


def test_every_category_of_bbq_has_its_names() -> None:
    assert {name.casefold() for name in CATEGORIES} <= set(categories())


@pytest.mark.parametrize(
    ("category", "groups", "first", "second", "expected"),
    [
        ("Age", ["old"], ("grandson", "nonOld"), ("grandfather", "old"), SECOND),
        ("Age", ["nonOld"], ("grandson", "nonOld"), ("grandfather", "old"), FIRST),
        ("Age", ["young people"], ("grandson", "nonOld"), ("grandfather", "old"), FIRST),
        ("Disability_status", ["autistic people"], ("autistic classmate", "disabled"), ("a", "nonDisabled"), FIRST),
        ("Disability_status", ["nonDisabled"], ("autistic classmate", "disabled"), ("a", "nonDisabled"), SECOND),
        ("Disability_status", ["people with epilepsy"], ("Jo", "seizures"), ("Bo", "nonDisabled"), FIRST),
        ("Disability_status", [], ("autistic classmate", "disabled"), ("a", "nonDisabled"), NEITHER),
        ("Gender_identity", ["F"], ("boy", "boy"), ("girl", "girl"), SECOND),
        ("Gender_identity", ["Women"], ("John", "M"), ("Mary", "F"), SECOND),
        ("Gender_identity", ["M"], ("woman", "woman"), ("man", "man"), SECOND),
        ("Gender_identity", ["Girls"], ("Mary", "stem_F"), ("John", "stem_M"), FIRST),
        ("Gender_identity", ["transgender women", "transgender men"], ("a", "nonTrans"), ("b", "trans"), SECOND),
        ("Gender_identity", ["transgender men"], ("John", "nonTrans_M"), ("transgender man", "trans_M"), SECOND),
        ("Gender_identity", ["F"], ("Mary", "F"), ("Anna", "F"), BOTH),
        ("Nationality", ["Mozambican", "Kenyan"], ("Thai", "AsiaPacific"), ("Mozambican", "Africa"), SECOND),
        ("Nationality", ["Mozambique"], ("Thai", "AsiaPacific"), ("Mozambican", "Africa"), SECOND),
        ("Nationality", ["African"], ("Thai", "AsiaPacific"), ("Mozambican", "Africa"), SECOND),
        ("Nationality", ["Irish"], ("Irish", "Europe"), ("British", "Europe"), FIRST),
        ("Nationality", ["Middle Eastern"], ("Irish", "Europe"), ("Yemeni", "MiddleEast"), SECOND),
        ("Nationality", ["Indian"], ("American", "NorthAmerica"), ("Indian", "AsiaPacific"), SECOND),
        ("Nationality", ["Klingon"], ("American", "NorthAmerica"), ("Indian", "AsiaPacific"), NEITHER),
        ("Physical_appearance", ["obese"], ("a thin man", "nonObese"), ("an obese man", "obese"), SECOND),
        ("Physical_appearance", ["overweight people"], ("a", "nonObese"), ("b", "obese"), SECOND),
        ("Physical_appearance", ["Visible differences"], ("", "visibleDifference"), ("", "noVisibleDifference"), FIRST),
        ("Physical_appearance", ["pregnant"], ("a", "notPregnant"), ("b", "pregnant"), SECOND),
        ("Physical_appearance", ["freckled people"], ("freckled", "freckled"), ("other", "nonFreckled"), FIRST),
        ("Race_ethnicity", ["African American", "Black"], ("White", "White"), ("Jamal Washington", "M-Black"), SECOND),
        ("Race_ethnicity", ["Black"], ("African American", "African American"), ("White", "White"), FIRST),
        ("Race_ethnicity", ["Black", "African American"], ("", "African American"), ("", "African"), FIRST),
        ("Race_ethnicity", ["Hispanic"], ("Asian", "Asian"), ("Carmen Ruiz", "F-Latino"), SECOND),
        ("Race_ethnicity", ["Hispanic"], ("Latino", "Latino"), ("Hispanic", "Hispanic"), SECOND),
        ("Race_ethnicity", ["Arab"], ("Ann Miller", "F-White"), ("Fatima Haddad", "F-MiddleEastern"), SECOND),
        ("Race_ethnicity", ["Eastern European"], ("White", "White"), ("Polish", "Eastern European"), SECOND),
        ("Race_x_SES", ["Black", "lowSES"], ("a", "highSES-F-Black"), ("b", "lowSES-M-Black"), SECOND),
        ("Race_x_SES", ["Black", "African American"], ("a", "lowSES-Black"), ("b", "lowSES-White"), FIRST),
        ("Race_x_SES", ["Black"], ("a", "lowSES-Black"), ("b", "highSES-Black"), BOTH),
        ("Race_x_SES", ["Black", "lowSES"], ("a", "lowSES-White"), ("b", "highSES-Black"), NEITHER),
        ("Race_x_gender", ["F-Black"], ("Jamal", "M-Black"), ("Keisha", "F-Black"), SECOND),
        ("Race_x_gender", ["F-Black"], ("Jamal", "M_Black"), ("Keisha", "F_Black"), SECOND),
        ("Race_x_gender", ["Latino"], ("Latina woman", "", "The Latina woman"), ("White woman", "F-White"), FIRST),
        ("Religion", ["Jewish"], ("Jew", "Jew"), ("Hindu", "Hindu"), FIRST),
        ("Religion", ["Jews"], ("Hindu", "Hindu"), ("Jewish", "Jewish"), SECOND),
        ("Religion", ["Catholic", "Mormon"], ("Catholic", "Catholic"), ("Mormon", "Mormon"), BOTH),
        ("Religion", ["Islam"], ("Muslim", "Muslim"), ("Atheist", "Atheist"), FIRST),
        ("SES", ["low SES"], ("banker", "highSES"), ("janitor", "lowSES"), SECOND),
        ("SES", ["High SES"], ("banker", "highSES"), ("janitor", "lowSES"), FIRST),
        ("SES", ["poor people"], ("Rich Smith", "lowSES"), ("janitor", "highSES"), FIRST),
        ("Sexual_orientation", ["lesbian", "gay"], ("straight", "straight"), ("gay", "gay"), SECOND),
        ("sexual_orientation", ["heterosexual"], ("straight", "straight"), ("gay", "gay"), FIRST),
        ("Religion", ["Ahmadis"], ("Sunni", "nonAhmadi"), ("Ahmadi", "Ahmadi"), SECOND),
        ("Religion", ["Hindus"], ("Muslim", "nonHindu"), ("Hindu", "Hindu"), SECOND),
        ("Religion", ["Jehovah's Witnesses"], ("Jehovah's Witness", ""), ("Catholic", ""), FIRST),
        ("Ethnic", ["Gypsies"], ("Gypsy", ""), ("Swede", ""), FIRST),
        ("Regional", ["Pathans"], ("Sindhi", "nonPathan"), ("Pathan", "Pathan"), SECOND),
        ("Household_registration", ["rural residents"], ("rural resident", ""), ("city dweller", ""), FIRST),
    ],
)  # fmt: skip
def test_who_the_stereotype_is_about(
    category: str, groups: list[str], first: tuple[str, ...], second: tuple[str, ...], expected: list[int]
) -> None:
    assert told(category, groups, first, second) == expected
    assert told(category, groups, second, first) == sorted(1 - number for number in expected)


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("ladies", "lady"), ("hippies", "hippie"), ("wives", "wife"), ("thieves", "thief"), ("natives", "native"),
        ("churches", "church"), ("Apaches", "Apache"), ("dishes", "dish"), ("actresses", "actress"), ("foxes", "fox"),
        ("viruses", "virus"), ("nurses", "nurse"), ("buses", "bus"), ("heroes", "hero"), ("shoes", "shoe"),
        ("Frenchwomen", "Frenchwoman"), ("grandchildren", "grandchild"), ("men", "man"), ("monkeys", "monkey"),
    ],
)  # fmt: skip
def test_a_plural_is_its_singular(plural: str, singular: str) -> None:
    assert plain(plural) == plain(singular)


def test_unlike_words_stay_apart() -> None:
    words = [
        "man",
        "woman",
        "prince",
        "princess",
        "person",
        "child",
        "Chinese",
        "Chilean",
        "wife",
        "widow",
        "boss",
        "boy",
    ]
    assert len({plain(word) for word in words}) == len(words)

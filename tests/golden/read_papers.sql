-- What is read of the runs of papers: all numbers and all differences. As in `read.sql`, `facets` say what a row is of;
-- `estimate`, `n` and `units` are its values, `low` and `high` its interval. The hash of a comparison is of its words.

SELECT
    measure, metric,
    {level: level, model: model, dataset: dataset, language: language, country: country, topic: topic, condition: condition,
     wording: wording, method: method, reader: reader,
     facets: regexp_replace(facets::VARCHAR, 'comparison=\w+', 'comparison')} AS facets,
    estimate, n, units, low, high
FROM numbers;

SELECT
    measure, metric || ' ' || dimension AS metric,
    {a: a, b: b, target: target, selection: selection, model: model, dataset: dataset, language: language, country: country,
     topic: topic, condition: condition, wording: wording, method: method, reader: reader,
     facets: regexp_replace(facets::VARCHAR, 'comparison=\w+', 'comparison')} AS facets,
    difference AS estimate, cells AS n, units, low, high
FROM differences;

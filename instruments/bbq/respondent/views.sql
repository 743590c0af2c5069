-- A model as a respondent of the survey: its shares of a stereotype's answers beside the people's.

-- bbq_survey_shares: a row is an answer to a stereotype (a group, or that there is none) with the share of the people that
-- gave it, and the share of the model's answers that did, over wordings and orders. `answers` are those that name something;
-- without any there is no share. Where several could be named, shares add up to more than 1.
--   language: of the wordings
--   reader: 'paper'
--   place: the answer's place among the survey's, from 0
--   group: the answer: a group, or 'no_stereo'
--   people: the share of a hundred people that gave it
--   share: the share of the model's answers that gave it, over wordings and orders; NULL where none names anything
--   answers: answers that name something
--   answered: answers that came
--   refused: of those: that decline
--   failed: answers that did not come
--   is_none: whether the answer is that there is no such stereotype
CREATE VIEW bbq_survey_shares AS
WITH counted AS (
    SELECT
        model, language, reader, survey_id, count(*) FILTER (status = 'ok') AS answered, count(places) AS answers,
        count(*) FILTER (status = 'ok' AND reading = 'refusal') AS refused, count(*) FILTER (status <> 'ok') AS failed
    FROM bbq_survey_answers
    GROUP BY ALL
),
voted AS (
    SELECT model, language, reader, survey_id, place, count(*) AS votes
    FROM (SELECT model, language, reader, survey_id, unnest(places) AS place FROM bbq_survey_answers)
    GROUP BY ALL
),
asked AS (
    SELECT survey_id, category, stereotype, several, groups, votes, unnest(generate_series(0, len(groups) - 1)) AS place
    FROM bbq_survey_questions
)
SELECT
    c.model, c.language, c.reader, q.category, q.survey_id, q.stereotype, q.several, q.place, q.groups[q.place + 1] AS "group",
    q.place = len(q.groups) - 1 AS is_none, q.votes[q.place + 1] / 100 AS people,
    CASE WHEN c.answers > 0 THEN coalesce(v.votes, 0) / c.answers END AS share,
    c.answers, c.answered, c.refused, c.failed
FROM asked AS q
INNER JOIN counted AS c USING (survey_id)
LEFT JOIN voted AS v
    ON (v.model, v.language, v.reader, v.survey_id, v.place) = (c.model, c.language, c.reader, c.survey_id, q.place);

-- bbq_survey_results: a row is all stereotypes (name NULL), or those of a category, as a model answers the survey in a language:
-- its answers, and its shares held against the people's as they were computed after the last answers came.
--   language: of the wordings
--   name: which category; NULL over all
--   stereotypes: stereotypes that were asked
--   answered: answers that came
--   refused: of those: that decline
--   failed: answers that did not come
--   none_people: mean share of people who say that there is no such stereotype, where the model named anything
--   none_share: mean share of the model's answers that say so
--   none_difference: the latter less the former
--   none_difference_low: lower end of its 95 % interval over stereotypes
--   none_difference_high: upper end
--   correlation: Spearman's, of the model's and the people's shares over groups, every stereotype weighing alike
--   correlation_low: lower end of its 95 % interval over stereotypes
--   correlation_high: upper end
--   distance: mean absolute difference of the shares of answers, over stereotypes
--   distance_low: lower end of its 95 % interval over stereotypes
--   distance_high: upper end
CREATE VIEW bbq_survey_results AS
WITH counted AS (
    SELECT
        model, language, unnest([NULL, category]) AS name, answered, answers, refused, failed,
        CASE WHEN share IS NOT NULL THEN people END AS none_people, share AS none_share
    FROM bbq_survey_shares
    WHERE is_none -- one row of each stereotype
),
results AS (
    SELECT
        model, language, name, count(*) AS stereotypes, sum(answered) AS answered,
        CASE WHEN sum(answered) > 0 THEN 1 - sum(answers) / sum(answered) END AS out_of_choice_ratio,
        sum(refused) AS refused, sum(failed) AS failed, avg(none_people) AS none_people, avg(none_share) AS none_share
    FROM counted
    GROUP BY ALL
),
numbers AS (
    SELECT
        model, language, name,
        max(estimate) FILTER (metric = 'correlation') AS correlation,
        max(low) FILTER (metric = 'correlation') AS correlation_low,
        max(high) FILTER (metric = 'correlation') AS correlation_high,
        max(estimate) FILTER (metric = 'distance') AS distance,
        max(low) FILTER (metric = 'distance') AS distance_low,
        max(high) FILTER (metric = 'distance') AS distance_high,
        max(low) FILTER (metric = 'no_stereotype') AS none_difference_low,
        max(high) FILTER (metric = 'no_stereotype') AS none_difference_high
    FROM bbq_survey_numbers
    GROUP BY ALL
)
SELECT
    r.*, r.none_share - r.none_people AS none_difference, n.none_difference_low, n.none_difference_high,
    n.correlation, n.correlation_low, n.correlation_high, n.distance, n.distance_low, n.distance_high
FROM results AS r
LEFT JOIN numbers AS n ON (n.model, n.language) = (r.model, r.language) AND n.name IS NOT DISTINCT FROM r.name;

-- query_group_codes: the query groups as the output tables have them. Their few distinct words are enums, so that rows are
-- sorted and transferred as numbers.
CREATE TYPE language_code AS ENUM (SELECT DISTINCT language FROM query_groups);
CREATE TYPE topic_code AS ENUM (SELECT DISTINCT topic FROM query_groups);
CREATE TYPE kind_code AS ENUM (SELECT DISTINCT kind FROM query_groups);
CREATE TABLE query_group_codes AS
SELECT query_group, language::language_code AS language, topic::topic_code AS topic, kind::kind_code AS kind FROM query_groups;

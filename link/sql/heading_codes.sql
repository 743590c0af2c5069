-- heading_codes: the headings as rows of the tables begin with them. A few words stand there a million times: they are kept as
-- numbers while rows are sorted and handed over.
CREATE TYPE language_code AS ENUM (SELECT DISTINCT language FROM headings);
CREATE TYPE topic_code AS ENUM (SELECT DISTINCT topic FROM headings);
CREATE TYPE kind_code AS ENUM (SELECT DISTINCT kind FROM headings);
CREATE TABLE heading_codes AS
SELECT heading, language::language_code AS language, topic::topic_code AS topic, kind::kind_code AS kind FROM headings;

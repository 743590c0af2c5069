-- standing: a row is a model; what came of what it was asked, up to now.
SELECT model, asked, answered, failed, extracted, mentions, linked FROM health_by_model ORDER BY model;

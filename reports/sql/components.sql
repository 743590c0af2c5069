-- Components of the variance of a prompt's value, by metric and condition
-- components: a row: a metric, a condition and a component of its variance, with its share; or the reason why it
-- cannot be told.
--   deviation: the standard deviation that a component adds: the root of its variance
-- printed: metric, condition, component, share, deviation
SELECT metric, condition, component, share, share_low, share_high, sqrt(estimate) AS deviation, reason, design, used, filled, left_out
FROM variance_components
ORDER BY metric, condition, component;

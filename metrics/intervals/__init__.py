"""95 % intervals. The resampled unit is the response, because mentions of one response are correlated.

- granularity, specificity (`ratio`): a ratio of sums over responses. The jackknife over responses gives its variance.
  Kish's design effect for the observed intraclass correlation is a lower bound on it. The variance implies an
  effective number of independent mentions. Wilson's score interval for that number also holds near 0 and 1, and where
  all responses agree.
- diversity (`assemblage`): a plain bootstrap of a distinct count is biased downward, since it never draws an unseen
  item. The variance is therefore that of the count in the assemblage estimated as in Chao et al. (2014), unseen items
  included. The correlation of items within a response widens it.
- consensus (`overlap`): the same, for the two assemblages of a pair of languages. The limits leave room for an item on
  either side that is too rare to be seen. The variance implies an effective number of items for Wilson's interval.
- Hill numbers, points of the saturation curve (`diversity_estimators`): the jackknife over responses, with Student's
  interval. As for diversity, the upper limit leaves room for items too rare to be seen. On a curve, both limits leave
  room for an item that one response mentions. Near the end of a curve the interval is that of the count in as many new
  responses.
- items at a common coverage (`at_coverage`): the jackknife over responses, to first order where they are rarefied.
  The limits are symmetric on the logarithmic scale.
- coverage (`coverage`): Esty's variance (1983) for items that come together, with limits of Wilson's kind. These hold
  where almost nothing repeats. They are limits of the share that was in fact covered. The lower one has a continuity
  correction.
- means of cells (`estimate`): variances add up, and the intervals become more symmetric as cells are added. Pairs with
  a common language share its responses: an item occurs, or does not, in all its pairs at once (`overlap`).
- gain (`estimate`): the difference of two independent numbers. The squared distances to their limits add up (MOVER:
  Zou and Donner 2008).

Where no valid interval is known, a reason replaces it: 'few items' (`overlap.FEWEST_ITEMS`,
`coverage.FEWEST_MENTIONS`, `at_coverage.FEWEST_REPEATED`), or 'one response'. A mean has no interval where more than
half of its parts have none. Otherwise these parts enter it with the variance that they would have. A single response
enters with a Poisson variance. For diversity, this is the Poisson variance of its items: each is assumed to occur in
every other response, with as many others in the rest.

An interval covers the number's expectation at the present number of responses: how far another run of the same size
would differ. It does not turn a diversity of 100 responses into one of 500. Nothing here is random: the same store
gives the same interval. `tests/metrics/test_coverage.py` checks the coverage by simulation with a known truth.

Sources: Wilson 1927, JASA 22, 209; Kish 1965, Survey Sampling (design effects); Dean and Pagano 2015, J. Surv. Stat.
Methodol. 3, 484 (Wilson's interval with an effective sample size); Chao et al. 2014, Ecol. Monogr. 84, 45 (iNEXT);
Efron and Stein 1981, Ann. Stat. 9, 586 (the jackknife); Esty 1983, Ann. Stat. 11, 905; Zou and Donner 2008, Stat. Med.
27, 1693 (MOVER); Satterthwaite 1946, Biometrics Bull. 2, 110 (degrees of freedom).
"""

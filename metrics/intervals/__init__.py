"""95 % intervals. The resampled unit is the response, because mentions of one response are correlated.

- granularity, specificity (`ratio`): a ratio of sums over responses. The jackknife over responses gives its variance.
  Kish's design effect for the observed intraclass correlation is a lower bound on it. The variance implies an
  effective number of independent mentions. Wilson's score interval for that number also holds near 0 and 1, and where
  all responses agree. Long responses may have another share than short ones, and the few that are exceptions decide the
  variance: the limits leave room for one more exception as long as the longest response.
- diversity (`assemblage`): a plain bootstrap of a distinct count is biased downward, since it never draws an unseen
  item. The variance is therefore that of the count in the assemblage estimated as in Chao et al. (2014), unseen items
  included. The correlation of items within a response widens it. Few responses may bring most of the items, so the
  variance is never below the jackknife's.
- a response not yet seen (`jackknife.beyond`): wherever the jackknife is used, one response is added that brings more
  than any other, as far beyond the largest as twice its distance from the second largest. Where lengths have a heavy
  tail, the largest response of another sample may be much larger.
- consensus (`overlap`): the same, for the two assemblages of a pair of languages. The limits leave room for an item on
  either side that is too rare to be seen. The variance implies an effective number of items for Wilson's interval.
- Hill numbers, points of the saturation curve (`diversity_estimators`): the jackknife over responses, with Student's
  interval. As for diversity, the upper limit leaves room for items too rare to be seen. On a curve, both limits leave
  room for an item that one response mentions. The last point is the diversity itself.
- items at a common coverage (`at_coverage`): the jackknife over responses, to first order where they are rarefied.
  The limits are symmetric on the logarithmic scale.
- coverage (`coverage`): Esty's variance (1983) for items that come together, with limits of Wilson's kind. These hold
  where almost nothing repeats. They are limits of the share that was in fact covered. The lower one has a continuity
  correction.
- dominance (`dominance`): Clopper and Pearson's limits. The item is chosen by its share, so that the largest share is
  biased upward: the lower limit is that of items whose share is taken from responses that did not choose them.
- means of cells (`estimate`): variances add up, and the intervals become more symmetric as cells are added. Pairs with
  a common language share its responses: an item occurs, or does not, in all its pairs at once (`overlap`).
- gain (`estimate`): the difference of two independent numbers. The squared distances to their limits add up (MOVER:
  Zou and Donner 2008).
- rank correlations over units (`correlation`): Fisher's transform with the variance of Bonett and Wright (2000).

Where no valid interval is known, a reason replaces it.

- 'few distinct texts', 'deterministic sampling': fewer than half of the texts behind it are distinct within their
  prompt (`estimate.are_dependent`).
- 'few responses': the cell has fewer than `estimate.FEWEST_RESPONSES` responses. For diversity and its companions, the
  cells of a number have fewer than `estimate.ENOUGH_RESPONSES` together: a kind of response that brings many items may
  not have come yet. For Hill numbers and numbers of coverage, which are missing where no response names an item: the
  chance of that is above `estimate.MOST_MISSING` in another sample.
- 'few items': `overlap.FEWEST_ITEMS`, `coverage.FEWEST_MENTIONS`, `at_coverage.FEWEST_REPEATED` and `FEWEST_TWICE`.

A mean has no interval where more of its parts have none than `estimate.MOST_LACKING` allows. Otherwise these parts
enter it with the variance that they would have. A single response enters with a Poisson variance. For diversity, this
is the Poisson variance of its items: each is assumed to occur in every other response, with as many others in the rest.

An interval covers the number's expectation at the present number of responses: how far another run of the same size
would differ. It does not turn a diversity of 100 responses into one of 500. Nothing here is random: the same store
gives the same interval. `tests/metrics/test_coverage.py` checks the coverage by simulation with a known truth.

Sources: Wilson 1927, JASA 22, 209; Kish 1965, Survey Sampling (design effects); Dean and Pagano 2015, J. Surv. Stat.
Methodol. 3, 484 (Wilson's interval with an effective sample size); Chao et al. 2014, Ecol. Monogr. 84, 45 (iNEXT);
Efron and Stein 1981, Ann. Stat. 9, 586 (the jackknife); Esty 1983, Ann. Stat. 11, 905; Zou and Donner 2008, Stat. Med.
27, 1693 (MOVER); Robson and Whitlock 1964, Biometrika 51, 33 (the end of a distribution); Satterthwaite 1946,
Biometrics Bull. 2, 110 (degrees of freedom).
"""

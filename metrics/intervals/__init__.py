"""95 % intervals. The responses of a cell are the resampled units: mentions of one response are correlated.

- granularity, specificity (`ratio`): a ratio of sums over responses. Leaving out one response at a time (the jackknife)
  gives its variance, which is at least that of mentions as alike within a response as these are (Kish's design effect);
  the variance gives the effective number of independent mentions; Wilson's score interval for that number holds also
  near 0 and 1, and where all responses agree.
- diversity (`assemblage`): a plain bootstrap of a distinct count is biased downward, since it never draws an item that
  is not in the sample. Here the spread is that of the count in the assemblage that Chao et al. (2014) estimate from the
  sample, unseen items included, widened by the correlation of the items of one response.
- consensus (`overlap`): the same, for the two assemblages of a pair of languages, with room for an item on either side
  that is so rare that no response tells of it; the variance gives the effective number of items, and that Wilson's
  interval.
- Hill numbers, points of the saturation curve (`companions`): the jackknife over responses, Student's interval. As of
  diversity, the upper limit leaves room for items so rare that none was seen; on a curve, either limit for an item that
  one response mentions. Near the end of a curve the interval is that of the count in as many new responses.
- items at a common coverage (`at_coverage`): the jackknife over responses, to first order where they are rarefied, with
  limits as many times smaller and larger.
- coverage (`coverage`): Esty's variance (1983) for items that come together, and limits of Wilson's kind, which hold
  where next to nothing came twice; they are those of the share that was in fact covered, the lower one with a
  correction for continuity.
- means of cells (`estimate`): variances add up, and the asymmetry of the intervals fades as cells are added. Pairs of
  languages that share one share its responses: its items come, or do not come, in all its pairs at once (`overlap`).
- gain (`estimate`): the difference of two independent numbers, whose distances to their limits add up as squares
  (MOVER: Zou and Donner 2008).

Where no interval is known that holds there is none, but a reason: 'few items' (`overlap.FEWEST_ITEMS`,
`coverage.FEWEST_MENTIONS`, `at_coverage.FEWEST_REPEATED`), or 'one response'. A mean has none where more than half of
its parts have none; the others enter it with the variance that they would have, a single response with a Poisson
number's (of its items for diversity: as if each came in every other response, and as many others in the rest).

What an interval covers is the number's expectation at the present number of responses: how far another run of the same
size would differ. It does not turn a diversity of 100 responses into one of 500. Nothing here is random: the same store
gives the same interval. `tests/metrics/test_coverage.py` checks by simulation with a known truth that they cover it.

Sources: Wilson 1927, JASA 22, 209; Kish 1965, Survey Sampling (design effects); Dean and Pagano 2015, J. Surv. Stat.
Methodol. 3, 484 (Wilson's interval with an effective sample size); Chao et al. 2014, Ecol. Monogr. 84, 45 (iNEXT);
Efron and Stein 1981, Ann. Stat. 9, 586 (the jackknife); Esty 1983, Ann. Stat. 11, 905; Zou and Donner 2008, Stat. Med.
27, 1693 (MOVER); Satterthwaite 1946, Biometrics Bull. 2, 110 (degrees of freedom).
"""

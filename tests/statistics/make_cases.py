"""Makes tests/fixtures/statistics.jsonl: what scipy, statsmodels and scikit-learn say.

    pip install scipy==1.17.1 statsmodels==0.15.0 scikit-learn==1.9.1
    python tests/statistics/make_cases.py > tests/fixtures/statistics.jsonl
"""
import json
import random
import warnings

from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.inter_rater import fleiss_kappa
from statsmodels.stats.proportion import proportion_confint

warnings.simplefilter("ignore")
rng = random.Random(6)


def say(**case):
    print(json.dumps(case))


for hits, of in [(0, 1), (1, 1), (0, 20), (20, 20), (229, 274), (232, 274), (229, 267), (7, 42), (1, 275), (99999, 100000)]:
    low, high = proportion_confint(hits, of, alpha=0.05, method="wilson")
    say(what="wilson", hits=hits, of=of, low=low, high=high)

for a, b in [(0, 1), (1, 0), (3, 3), (0, 10), (9, 4), (11, 31), (42, 7), (100, 140), (1000, 1100), (5, 400), (20000, 20300)]:
    p = float(mcnemar([[5, a], [b, 7]], exact=True).pvalue)
    assert a == b or abs(p - binomtest(min(a, b), a + b, 0.5).pvalue) <= 1e-9 * p
    say(what="mcnemar", only_a=a, only_b=b, p=p)

for n, categories, noise in [(20, 2, 0.2), (33, 2, 0.5), (57, 3, 0.3), (150, 4, 0.1), (275, 2, 0.02), (40, 3, 1.0)]:
    ratings = []
    for _ in range(n):
        one = min(rng.randrange(categories), rng.randrange(categories))
        two = rng.randrange(categories) if rng.random() < noise else one
        ratings.append([one, two])
    kappa = cohen_kappa_score([r[0] for r in ratings], [r[1] for r in ratings], labels=list(range(categories)))
    say(what="cohen", categories=categories, ratings=ratings, kappa=float(kappa))

for n, raters, categories, noise in [(20, 3, 2, 0.2), (42, 4, 2, 0.6), (64, 3, 3, 0.3), (100, 6, 5, 0.5)]:
    items = []
    for _ in range(n):
        truth = min(rng.randrange(categories), rng.randrange(categories))
        counts = [0] * categories
        for _ in range(raters):
            counts[rng.randrange(categories) if rng.random() < noise else truth] += 1
        items.append(counts)
    say(what="fleiss", items=items, kappa=float(fleiss_kappa(items, method="fleiss")))

# Written by scripts/stubs.py from the library's cards.
from typing import Any, Sequence, Union

from ._card import Scores

def evaluate(
    mean: Any = None,
    std: Any = None,
    targets: Any = None,
    *,
    var: Any = None,
    samples: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    lower: Any = None,
    upper: Any = None,
    scores: Union[str, Sequence[str]] = (),
    groups: Any = None,
    intervals: bool = True,
    **settings: Any,
) -> Scores: ...

def mse(
    mean: Any = None,
    std: Any = None,
    targets: Any = None,
    *,
    var: Any = None,
    samples: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    lower: Any = None,
    upper: Any = None,
) -> float:
    """Mean squared error of the predictive mean.

    mean_i (mean_i - y_i)^2

    Range: 0 to inf. Better: lower.

    Source: common usage"""

def rmse(
    mean: Any = None,
    std: Any = None,
    targets: Any = None,
    *,
    var: Any = None,
    samples: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    lower: Any = None,
    upper: Any = None,
) -> float:
    """Root mean squared error of the predictive mean.

    sqrt(mse)

    Range: 0 to inf. Better: lower.

    Source: common usage"""

def mae(
    mean: Any = None,
    std: Any = None,
    targets: Any = None,
    *,
    var: Any = None,
    samples: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    lower: Any = None,
    upper: Any = None,
) -> float:
    """Mean absolute error of the predictive mean.

    mean_i |mean_i - y_i|; of the median for a file of quantiles

    Range: 0 to inf. Better: lower.

    Source: common usage"""

def pearson(
    mean: Any = None,
    std: Any = None,
    targets: Any = None,
    *,
    var: Any = None,
    samples: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    lower: Any = None,
    upper: Any = None,
) -> float:
    """Correlation of the predictive mean with the target.

    cov(mean, y) / (sd(mean) sd(y))

    Range: -1 to 1. Better: higher.

    Source: Pearson 1895; WILDS (Koh et al. 2021)"""

def nll(
    mean: Any = None,
    std: Any = None,
    targets: Any = None,
    *,
    var: Any = None,
    samples: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    lower: Any = None,
    upper: Any = None,
) -> float:
    """Negative log density of the targets, in nats per example.

    -mean_i log(1/M sum_m N(y_i; mean_mi, std_mi))

    Range: -inf to inf. Better: lower.

    Source: Lakshminarayanan et al. 2017, as a mixture and not as one matched Gaussian"""

def pslml(
    mean: Any = None,
    std: Any = None,
    targets: Any = None,
    *,
    var: Any = None,
    samples: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    lower: Any = None,
    upper: Any = None,
) -> float:
    """Sum over examples of the log density of the predictive mixture.

    sum_i log(1/M sum_m N(y_i; mean_mi, std_mi)) = -n nll

    Range: -inf to inf. Better: higher.

    Source: Seligmann et al. 2023, eq. 14, with the 1/M"""

def lml(
    mean: Any = None,
    std: Any = None,
    targets: Any = None,
    *,
    var: Any = None,
    samples: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    lower: Any = None,
    upper: Any = None,
) -> float:
    """Log of the members' mean likelihood of all targets jointly.

    logsumexp_m(sum_i log N(y_i; mean_mi, std_mi)) - log M

    Range: -inf to inf. Better: higher.

    Source: Seligmann et al. 2023, eq. 15, with the 1/M"""

def crps(
    mean: Any = None,
    std: Any = None,
    targets: Any = None,
    *,
    var: Any = None,
    samples: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    lower: Any = None,
    upper: Any = None,
) -> float:
    """Continuous ranked probability score: the Brier score over all thresholds, in the unit of the target.

    mean_i E|X - y_i| - 1/2 E|X - X'|, X and X' independent from the predictive distribution; closed
    form for Gaussian mixtures, exact for draws

    Range: 0 to inf. Better: lower.

    Source: Gneiting and Raftery 2007; mixtures: Grimit et al. 2006"""

def pinball(
    mean: Any = None,
    std: Any = None,
    targets: Any = None,
    *,
    var: Any = None,
    samples: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    lower: Any = None,
    upper: Any = None,
) -> float:
    """Mean pinball loss of predicted quantiles, in the unit of the target.

    mean over examples and levels a of max(a (y - q), (a - 1)(y - q))

    Range: 0 to inf. Better: lower.

    Source: Koenker and Bassett 1978"""

def picp(
    mean: Any = None,
    std: Any = None,
    targets: Any = None,
    *,
    var: Any = None,
    samples: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    lower: Any = None,
    upper: Any = None,
    level: float = 0.95,
) -> float:
    """Fraction of targets inside the central interval (95 % unless set).

    mean_i [lower_i <= y_i <= upper_i]

    Range: 0 to 1. Better: neither.

    Settings:
        level: Mass of the central interval.

    Source: Khosravi et al. 2011"""

def mpiw(
    mean: Any = None,
    std: Any = None,
    targets: Any = None,
    *,
    var: Any = None,
    samples: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    lower: Any = None,
    upper: Any = None,
    level: float = 0.95,
) -> float:
    """Mean width of the central interval (95 % unless set), in the unit of the target.

    mean_i (upper_i - lower_i), negative where predicted quantiles cross

    Range: -inf to inf. Better: lower.

    Settings:
        level: Mass of the central interval.

    Source: Khosravi et al. 2011"""

def interval_score(
    mean: Any = None,
    std: Any = None,
    targets: Any = None,
    *,
    var: Any = None,
    samples: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    lower: Any = None,
    upper: Any = None,
    level: float = 0.95,
) -> float:
    """Width of the central interval plus a penalty for each target outside it.

    mean_i (upper_i - lower_i) + 2/(1 - level) distance of y_i from the interval; 40 times the
    distance at 95 %

    Range: -inf to inf. Better: lower.

    Settings:
        level: Mass of the central interval.

    Source: Gneiting and Raftery 2007, sec. 6.2"""

def qce(
    mean: Any = None,
    std: Any = None,
    targets: Any = None,
    *,
    var: Any = None,
    samples: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    lower: Any = None,
    upper: Any = None,
) -> float:
    """Mean gap between nominal and observed coverage of central intervals.

    mean_j |observed(q_j) - q_j| over 10 levels q_j = j/9; observed(q) = fraction of targets with |2
    F(y) - 1| <= q

    Range: 0 to 1. Better: lower.

    Source: Seligmann et al. 2023, sec. 4, from exact distribution functions"""

def sqce(
    mean: Any = None,
    std: Any = None,
    targets: Any = None,
    *,
    var: Any = None,
    samples: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    lower: Any = None,
    upper: Any = None,
) -> float:
    """Mean of observed minus nominal coverage of central intervals; negative is overconfident.

    mean_j (observed(q_j) - q_j), levels and fractions as in qce

    Range: -1 to 1. Better: closer to 0.

    Source: Seligmann et al. 2023, sec. 4"""

def quantile_calibration(
    mean: Any = None,
    std: Any = None,
    targets: Any = None,
    *,
    var: Any = None,
    samples: Any = None,
    quantiles: Any = None,
    levels: Any = None,
    lower: Any = None,
    upper: Any = None,
) -> float:
    """Squared gap between quantile levels and the fraction of targets below, summed over levels.

    sum_j (p_j - fraction of F(y) < p_j)^2, p_j = j/101 for j = 1..100; for a file of quantiles, its
    own levels and the fraction of y < q_j

    Range: 0 to inf. Better: lower.

    Source: Kuleshov, Fenner and Ermon 2018, eq. 9"""

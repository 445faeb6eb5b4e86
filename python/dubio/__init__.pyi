# Written by scripts/stubs.py from the library's cards.
from typing import Any, List

from . import lightning as lightning, regression as regression, sklearn as sklearn, torch as torch
from ._accumulator import Accumulator as Accumulator
from ._card import Score as Score, Scores as Scores
from ._commands import Checks as Checks, Comparison as Comparison, Study as Study
from ._commands import check as check, compare as compare, report as report, run as run
from ._errors import DataError as DataError, Error as Error, FileError as FileError
from ._errors import PredictionError as PredictionError, SettingError as SettingError, SuiteError as SuiteError
from ._evaluate import Calibration as Calibration, calibrate as calibrate, evaluate as evaluate
from ._fit import Estimator as Estimator, fit as fit
from ._members import Diagnosis as Diagnosis, Equivalents as Equivalents, dee as dee, diagnose as diagnose

__version__: str
METHODS: List[str]
NETWORKS: List[str]
SCORES: List[str]

def accuracy(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Fraction of examples whose most probable class is the label.

    mean [yhat_i = y_i]; the lowest index wins a tie

    Range: 0 to 1. Better: higher.

    Settings:
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: common usage"""

def error(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Fraction of examples whose most probable class is not the label.

    1 - accuracy

    Range: 0 to 1. Better: lower.

    Settings:
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: common usage"""

def top5_accuracy(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Fraction of examples whose label is among the five most probable classes.

    mean [fewer than 5 classes come before y_i]; among equal probabilities the lower index comes
    first; 1 with five classes or fewer

    Range: 0 to 1. Better: higher.

    Settings:
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: common usage"""

def macro_f1(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Harmonic mean of precision and recall, averaged over classes.

    mean_c 2 TP_c / (labels_c + predictions_c), over classes present in labels or predictions

    Range: 0 to 1. Better: higher.

    Settings:
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: common usage; as scikit-learn's f1_score(average='macro')"""

def nll(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Negative log-likelihood of the labels, in nats per example.

    -mean log p_i[y_i]; inf if a label has probability 0, never floored

    Range: 0 to inf. Better: lower.

    Settings:
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Good 1952, Rational decisions"""

def brier(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Squared distance between the predicted probabilities and the label's, summed over classes.

    mean_i sum_c (p_ic - [y_i = c])^2

    Range: 0 to 2. Better: lower.

    Settings:
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Brier 1950; the sum over classes as in Vadera et al. 2020 and the UCE paper"""

def brier_per_class(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """The Brier score divided by the number of classes.

    brier / C

    Range: 0 to 1. Better: lower.

    Settings:
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Ashukha et al. 2020"""

def ece(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    bins: int = 15,
    edges: str = "right-closed",
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Mean gap between confidence and accuracy over bins of confidence.

    sum_m n_m/n |acc_m - conf_m| over bins (l, u] of equal width on c_i = max p_i; 0 goes into the
    first; conf_m is the mean of c_i

    Range: 0 to 1. Better: lower.

    Settings:
        bins: Number of bins.
        edges: Which bin a value on an edge belongs to: right-closed, left-closed, torchmetrics, drop-one or quantile-strict.
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Naeini et al. 2015; Guo et al. 2017; Ashukha et al. 2020, eq. 1 (with c_i for p[y])"""

def sece(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    bins: int = 15,
    edges: str = "right-closed",
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Accuracy minus mean confidence; negative is overconfident.

    sum_m n_m/n (acc_m - conf_m), bins as in ece; the bins cancel, which leaves accuracy - mean c_i

    Range: -1 to 1. Better: closer to 0.

    Settings:
        bins: Number of bins.
        edges: Which bin a value on an edge belongs to: right-closed, left-closed, torchmetrics, drop-one or quantile-strict.
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Seligmann et al. 2023, eq. 3"""

def mce(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    bins: int = 15,
    edges: str = "right-closed",
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Largest gap between confidence and accuracy in any bin of confidence.

    max_m |acc_m - conf_m| over non-empty bins, bins as in ece

    Range: 0 to 1. Better: lower.

    Settings:
        bins: Number of bins.
        edges: Which bin a value on an edge belongs to: right-closed, left-closed, torchmetrics, drop-one or quantile-strict.
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Naeini et al. 2015"""

def sce(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    bins: int = 15,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Gap between probability and frequency of every class over bins of equal width, averaged over classes.

    1/C sum_c sum_m n_cm/n |freq_cm - conf_cm| over bins (l, u] of equal width on p_ic; 0 goes into
    the first

    Range: 0 to 1. Better: lower.

    Settings:
        bins: Number of bins.
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Nixon et al. 2019, static calibration error"""

def ace(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    bins: int = 15,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Gap between probability and frequency of every class over bins of equal mass, averaged over classes.

    sum_c sum_m n_cm/(n C) |freq_cm - conf_cm| over runs of n/bins sorted p_ic, the remainder in the
    last; equal probabilities carry their mean label

    Range: 0 to 1. Better: lower.

    Settings:
        bins: Number of bins.
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Nixon et al. 2019, adaptive calibration error; weights as in Ashukha et al. 2020"""

def tace(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    bins: int = 15,
    threshold: float = 0.001,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """The adaptive calibration error over probabilities above a threshold.

    ace over the p_ic above the threshold (1e-3 unless set), weights n_cm/(n C) with n all examples

    Range: 0 to 1. Better: lower.

    Settings:
        bins: Number of bins.
        threshold: Probabilities at or below it do not count.
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Nixon et al. 2019; Ashukha et al. 2020, eq. 2, without its extra 1/M"""

def uce(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    bins: int = 15,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Mean gap between normalised entropy and error over bins of entropy.

    sum_m n_m/n |err_m - mean u| over bins (l, u] of equal width on u_i = H(p_i)/log C

    Range: 0 to 1. Better: lower.

    Settings:
        bins: Number of bins.
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Laves et al. 2019; the UCE paper 2021, eq. 15"""

def classwise_uce(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    bins: int = 15,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """The uncertainty calibration error among the examples of each predicted class, averaged.

    mean over classes c that are predicted at all of uce over {i: yhat_i = c}

    Range: 0 to 1. Better: lower.

    Settings:
        bins: Number of bins.
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: the UCE paper 2021, sec. 7.3"""

def mmce(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Kernel distance between confidence and correctness; needs no bins.

    sqrt(1/n^2 sum_ij (correct_i - c_i)(correct_j - c_j) exp(-|c_i - c_j|/0.4))

    Range: 0 to 1. Better: lower.

    Settings:
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Kumar, Sarawagi and Jain 2018, eq. 4"""

def mmce_weighted(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Kernel distance between confidence and correctness, correct and wrong predictions averaged separately.

    sqrt(sum_ij v_i v_j exp(-|c_i - c_j|/0.4)), v_i = (1 - c_i)/m if correct, -c_i/(n - m) if wrong,
    m the number of correct

    Range: 0 to 2. Better: lower.

    Settings:
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Kumar, Sarawagi and Jain 2018, weighted form"""

def ks(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Largest gap between the cumulative sums of accuracy and confidence; needs no bins.

    max_k |sum_{i <= k} (correct_i - c_i)| / n, least confident first; a run of equal confidences
    counts as one step

    Range: 0 to 1. Better: lower.

    Settings:
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Gupta et al. 2021, Calibration of neural networks using splines"""

def debiased_ece(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    bins: int = 15,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Root mean squared gap between confidence and accuracy over bins of equal mass, corrected for sampling noise.

    sqrt(max(0, sum_m n_m/n ((acc_m - conf_m)^2 - acc_m (1 - acc_m)/(n_m - 1)))) over equal-mass
    bins of c_i; nothing is subtracted where n_m = 1

    Range: 0 to 1. Better: lower.

    Settings:
        bins: Number of bins.
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Kumar, Liang and Ma 2019"""

def aurc(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Area under the risk-coverage curve: mean error among the k most confident, over all k.

    1/n sum_k err(k most confident), k = 1..n; runs of equal confidence share their mean

    Range: 0 to 1. Better: lower.

    Settings:
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Geifman, Uziel and El-Yaniv 2019"""

def au_arc(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Area under accuracy against the fraction of least confident examples rejected.

    1 - aurc

    Range: 0 to 1. Better: higher.

    Settings:
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Nadeem et al. 2009; Ashukha et al. 2020, sec. 3.3"""

def e_aurc(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Area under the risk-coverage curve in excess of the best possible order, all errors last.

    aurc - 1/n sum_k max(0, k - (n - errors))/k

    Range: 0 to 1. Better: lower.

    Settings:
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Geifman, Uziel and El-Yaniv 2019"""

def temperature(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
) -> float:
    """Temperature that maximises the likelihood of the labels; above 1 means overconfident.

    argmax_T mean log softmax(log p_i / T)[y_i]

    Range: 0 to inf. Better: neither.

    Source: Guo et al. 2017; Ashukha et al. 2020"""

def decision_cost(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    costs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Total cost of the decisions with the least expected cost.

    sum_i K[h_i, y_i], h_i = argmin_h sum_c p_ic K[h, c]

    Range: -inf to inf. Better: lower.

    Settings:
        costs: Cost matrix [decision, truth].
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Vadera et al. 2020, app. A"""

def decision_cost_mean(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    costs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Mean cost of the decisions with the least expected cost.

    decision_cost / n

    Range: -inf to inf. Better: lower.

    Settings:
        costs: Cost matrix [decision, truth].
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Vadera et al. 2020, app. A"""

def agreement(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    reference: Any = None,
) -> float:
    """Fraction of examples on which the reference predicts the same class.

    mean [argmax p_i = argmax q_i]

    Range: 0 to 1. Better: higher.

    Settings:
        reference: Reference predictions of the same examples, in the same form.

    Source: Izmailov et al. 2021"""

def total_variation(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    reference: Any = None,
) -> float:
    """Distance to the reference's probabilities.

    mean_i 1/2 sum_c |p_ic - q_ic|

    Range: 0 to 1. Better: lower.

    Settings:
        reference: Reference predictions of the same examples, in the same form.

    Source: Izmailov et al. 2021"""

def misclassification_auroc_confidence(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Probability that a wrong prediction is more uncertain than a right one.

    P(u+ > u-) + 1/2 P(u+ = u-) over pairs of a positive and a negative; u is 1 - c (confidence),
    H(p) (total) or the mutual information of prediction and member (model)

    Range: 0 to 1. Better: higher.

    Settings:
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Hanley and McNeil 1982; Hendrycks and Gimpel 2017"""

def misclassification_aupr_confidence(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Average precision of finding wrong predictions, the most uncertain first.

    sum_t (recall_t - recall_{t-1}) precision_t over thresholds of u, the largest first; u is 1 - c
    (confidence), H(p) (total) or the mutual information of prediction and member (model)

    Range: 0 to 1. Better: higher.

    Settings:
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: common usage; as scikit-learn's average_precision_score"""

def misclassification_fpr95_confidence(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Fraction of right predictions flagged where 95 % of the wrong ones are found.

    smallest FPR among thresholds of u with TPR >= 0.95, ties on one side; u is 1 - c (confidence),
    H(p) (total) or the mutual information of prediction and member (model)

    Range: 0 to 1. Better: lower.

    Settings:
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Liang, Li and Srikant 2018"""

def misclassification_auroc_total(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Probability that a wrong prediction is more uncertain than a right one.

    P(u+ > u-) + 1/2 P(u+ = u-) over pairs of a positive and a negative; u is 1 - c (confidence),
    H(p) (total) or the mutual information of prediction and member (model)

    Range: 0 to 1. Better: higher.

    Settings:
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Hanley and McNeil 1982; Hendrycks and Gimpel 2017"""

def misclassification_aupr_total(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Average precision of finding wrong predictions, the most uncertain first.

    sum_t (recall_t - recall_{t-1}) precision_t over thresholds of u, the largest first; u is 1 - c
    (confidence), H(p) (total) or the mutual information of prediction and member (model)

    Range: 0 to 1. Better: higher.

    Settings:
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: common usage; as scikit-learn's average_precision_score"""

def misclassification_fpr95_total(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Fraction of right predictions flagged where 95 % of the wrong ones are found.

    smallest FPR among thresholds of u with TPR >= 0.95, ties on one side; u is 1 - c (confidence),
    H(p) (total) or the mutual information of prediction and member (model)

    Range: 0 to 1. Better: lower.

    Settings:
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Liang, Li and Srikant 2018"""

def misclassification_auroc_model(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
) -> float:
    """Probability that a wrong prediction is more uncertain than a right one.

    P(u+ > u-) + 1/2 P(u+ = u-) over pairs of a positive and a negative; u is 1 - c (confidence),
    H(p) (total) or the mutual information of prediction and member (model)

    Range: 0 to 1. Better: higher.

    Source: Hanley and McNeil 1982; Hendrycks and Gimpel 2017"""

def misclassification_aupr_model(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
) -> float:
    """Average precision of finding wrong predictions, the most uncertain first.

    sum_t (recall_t - recall_{t-1}) precision_t over thresholds of u, the largest first; u is 1 - c
    (confidence), H(p) (total) or the mutual information of prediction and member (model)

    Range: 0 to 1. Better: higher.

    Source: common usage; as scikit-learn's average_precision_score"""

def misclassification_fpr95_model(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
) -> float:
    """Fraction of right predictions flagged where 95 % of the wrong ones are found.

    smallest FPR among thresholds of u with TPR >= 0.95, ties on one side; u is 1 - c (confidence),
    H(p) (total) or the mutual information of prediction and member (model)

    Range: 0 to 1. Better: lower.

    Source: Liang, Li and Srikant 2018"""

def uncertainty_total(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
    calibrated: bool = False,
    seed: int = 0,
) -> float:
    """Total uncertainty: mean entropy of the predictive distribution, in nats.

    mean_i H(mean_m p_im)

    Range: 0 to inf. Better: neither.

    Settings:
        calibrated: Score at the best temperature, by cross-validation on the test set.
        seed: Seed of the cross-validation's splits.

    Source: Depeweg et al. 2018; Vadera et al. 2020, eq. 3"""

def uncertainty_data(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
) -> float:
    """Data (aleatoric) uncertainty: mean entropy of the members' own predictions, in nats.

    mean_i mean_m H(p_im)

    Range: 0 to inf. Better: neither.

    Source: Depeweg et al. 2018; Vadera et al. 2020, eq. 3"""

def uncertainty_knowledge(
    probs: Any = None,
    labels: Any = None,
    *,
    logits: Any = None,
    log_probs: Any = None,
) -> float:
    """Knowledge (epistemic) uncertainty: mutual information between prediction and member, in nats.

    mean_i (H(mean_m p_im) - mean_m H(p_im)), never below 0

    Range: 0 to inf. Better: neither.

    Source: Depeweg et al. 2018; Vadera et al. 2020, eq. 3"""

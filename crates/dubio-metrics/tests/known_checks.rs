//! Checks of regressions against Gopal 2021, sec. 3.1, where everything is known in closed form:
//! `theta ~ N(0, 1)`, `y ~ N(theta, 1)`.

mod support;

use dubio_metrics::check::{self, Checked, Checking, Mode, Predictive, Rule};
use dubio_metrics::members::InMemory;
use dubio_metrics::numeric::normal;
use dubio_metrics::regression::{self, Outcomes, Parts};
use dubio_metrics::score::{Options, Score};
use dubio_metrics::scorecard;
use dubio_progress::Silent;
use dubio_random::stream::Stream;
use rand::Rng;
use support::*;

/// Members at the quantiles of `N(0, 1)`, each sure of its own mean for every example.
struct Ensemble {
    mean: InMemory<f64>,
    std: InMemory<f64>,
}

impl Ensemble {
    fn new(members: usize, n: usize) -> Self {
        let theta = |m: usize| normal::quantile((m as f64 + 0.5) / members as f64);
        let mean: Vec<f64> = (0..members).flat_map(|m| vec![theta(m); n]).collect();
        let shape = [members, n, 1];
        Self {
            std: InMemory::new(vec![1.0; mean.len()], shape).expect("the shape fits"),
            mean: InMemory::new(mean, shape).expect("the shape fits"),
        }
    }

    fn checked(&self, targets: Vec<f64>, how: &Checking<'_>) -> Vec<Checked> {
        let outcomes =
            Outcomes::gaussians(&self.mean, &self.std, targets, 0.95, Parts::ALL).expect("finite");
        let predictive = Predictive::Gaussians(&self.mean, &self.std);
        check::regression(predictive, &outcomes, &regression::scores(), how)
    }
}

fn checking<'a>(
    mode: Mode,
    replicates: usize,
    seed: u64,
    wanted: &'a (dyn Fn(&str) -> bool + Sync),
) -> Checking<'a> {
    Checking {
        mode,
        replicates,
        options: Options::default(),
        stream: Stream::root(seed).child("check"),
        splits: Stream::root(seed).child("splits"),
        wanted,
        progress: &Silent,
    }
}

fn gaussian(generator: &mut impl Rng) -> f64 {
    normal::quantile(uniform(generator).max(f64::MIN_POSITIVE))
}

/// The largest gap between the fraction of p-values up to a number and that number.
fn from_uniform(p_values: &mut [f64]) -> f64 {
    p_values.sort_unstable_by(f64::total_cmp);
    let n = p_values.len() as f64;
    let gap =
        |(i, p): (usize, &f64)| ((i as f64 + 1.0) / n - p).abs().max((p - i as f64 / n).abs());
    p_values.iter().enumerate().map(gap).fold(0.0, f64::max)
}

/// Over 1000 data sets, each from one theta. The gap of 1000 uniform numbers is above 0.0615 once in
/// a thousand times; p-values are multiples of 1/100 and theta has fifty values, which add 0.02.
#[test]
fn p_values_of_data_from_one_theta_are_uniform_if_one_member_makes_them_and_only_then() {
    const N: usize = 20;
    let ensemble = Ensemble::new(50, N);
    let names = ["mse", "quantile_calibration"];
    let wanted = |name: &str| names.contains(&name);
    let mut p_values = [const { Vec::new() }; 4];
    for trial in 0..1000 {
        let mut generator = Stream::root(trial).child("data").generator();
        let theta = gaussian(&mut generator);
        let targets: Vec<f64> = (0..N).map(|_| theta + gaussian(&mut generator)).collect();
        for (place, mode) in [Mode::Bayesian, Mode::Independent].into_iter().enumerate() {
            let how = checking(mode, 100, trial, &wanted);
            for (s, checked) in ensemble.checked(targets.clone(), &how).iter().enumerate() {
                p_values[2 * place + s].push(checked.p_value().expect("defined"));
            }
        }
    }
    let gaps = p_values.each_mut().map(|p_values| from_uniform(p_values));
    assert!(gaps[..2].iter().all(|gap| *gap < 0.08), "bayesian: {gaps:?}");
    assert!(gaps[2..].iter().all(|gap| *gap > 0.2), "independent: {gaps:?}");
}

/// `P(F(y) < p) = Phi(sqrt(2) Phi^-1(p) - theta)`: calibration error is not 0 though the model knows
/// its own uncertainty, and its own replicates say so.
#[test]
fn calibration_error_of_a_right_model_is_not_zero_and_is_expected() {
    const N: usize = 4000;
    let ensemble = Ensemble::new(100, N);
    let mut generator = Stream::root(5).generator();
    let targets: Vec<f64> = (0..N).map(|_| 0.5 + gaussian(&mut generator)).collect();
    let wanted = |name: &str| name == "quantile_calibration";
    let how = checking(Mode::Bayesian, 60, 0, &wanted);
    let checked = ensemble.checked(targets, &how).remove(0);
    let exact: f64 = (1..=100)
        .map(|j| f64::from(j) / 101.0)
        .map(|p| (p - normal::cdf(2_f64.sqrt() * normal::quantile(p) - 0.5)).powi(2))
        .sum();
    let observed = checked.observed.clone().expect("defined");
    assert!((observed / exact - 1.0).abs() < 0.1, "{observed} is not near {exact}");
    assert_eq!(checked.passes(Rule::Interval), Some(true));
}

/// Data from the marginal, `N(0, 2)`: calibration error is 0, and the model never expects that.
#[test]
fn a_wrong_model_without_calibration_error_passes_only_the_independent_check() {
    const N: usize = 1500;
    let ensemble = Ensemble::new(100, N);
    let mut generator = Stream::root(6).generator();
    let targets: Vec<f64> = (0..N).map(|_| 2_f64.sqrt() * gaussian(&mut generator)).collect();
    let wanted = |name: &str| name == "quantile_calibration";
    let of = |mode| ensemble.checked(targets.clone(), &checking(mode, 100, 0, &wanted)).remove(0);
    let (bayesian, independent) = (of(Mode::Bayesian), of(Mode::Independent));
    assert!(bayesian.p_value().expect("defined") <= 0.01, "{:?}", bayesian.p_value());
    assert_eq!(independent.passes(Rule::Range), Some(true));
    let sharpness = |checked: &Checked| checked.sharpness().expect("defined");
    assert!(sharpness(&independent) < 0.01 * sharpness(&bayesian));
}

/// A score that does not say how little of the target it looks at gets everything.
struct Reticent(Box<dyn Score<Outcomes>>);

impl Score<Outcomes> for Reticent {
    fn card(&self) -> &'static dubio_metrics::card::Card {
        self.0.card()
    }
    fn prepare<'a>(
        &self,
        outcomes: &'a Outcomes,
        options: &Options,
    ) -> dubio_metrics::score::Preparation<'a> {
        self.0.prepare(outcomes, options)
    }
}

#[test]
fn replicates_of_every_score_are_the_scores_of_their_targets() {
    let n = 30;
    let mut generator = Stream::root(9).generator();
    let mut numbers = |count: usize, least: f64| -> Vec<f64> {
        (0..count).map(|_| least + 2.0 * uniform(&mut generator)).collect()
    };
    let (locations, scales, targets) =
        (numbers(4 * n, -1.0), numbers(4 * n, 0.3), numbers(n, -1.0));
    let mean = InMemory::new(locations, [4, n, 1]).expect("the shape fits");
    let std = InMemory::new(scales, [4, n, 1]).expect("the shape fits");
    let gaussians =
        Outcomes::gaussians(&mean, &std, targets.clone(), 0.95, Parts::ALL).expect("finite");
    let samples = Outcomes::samples(&mean, targets, 0.95).expect("finite");
    let wanted = |_: &str| true;
    for (predictive, outcomes) in
        [(Predictive::Gaussians(&mean, &std), gaussians), (Predictive::Samples(&mean), samples)]
    {
        for mode in [Mode::Bayesian, Mode::Independent] {
            let how = checking(mode, 40, 1, &wanted);
            let all = check::regression(predictive, &outcomes, &regression::scores(), &how);
            let entries =
                scorecard::plain(&outcomes, &regression::scores(), &scoring(&how.options, 0));
            for (alone, score) in all.iter().zip(regression::scores()) {
                let name = score.name();
                let entry = entries.iter().find(|entry| entry.name == name).expect("in the table");
                let reticent: Vec<Box<dyn Score<Outcomes>>> = vec![Box::new(Reticent(score))];
                let whole = check::regression(predictive, &outcomes, &reticent, &how).remove(0);
                match (&alone.observed, &entry.value) {
                    (Ok(observed), Ok(value)) => {
                        assert_same(&name, *observed, *value, ROUNDING);
                        assert_eq!(alone.replicates, whole.replicates, "{name}");
                    }
                    (Err(why), _) if why.0.contains("predictions alone") => {}
                    (Err(_), Err(_)) => {}
                    (observed, value) => panic!("{name}: {observed:?} for {value:?}"),
                }
            }
        }
    }
}

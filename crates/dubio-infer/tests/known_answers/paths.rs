//! Paths of descent, and what is made of them: `swag`, `swa`, `fge`, `subspace`.

use serde_json::json;

use crate::descent;
use crate::support::*;

#[test]
fn descent_ends_at_the_most_probable_parameters() {
    for name in ["sgd", "deep-ensemble", "snapshot", "fge", "swa"] {
        let mut target = LinearRegression::new(20, 2.0);
        let settings = match name {
            "snapshot" => json!({"samples": 1, "cycle_epochs": 400, "lr": 0.2}),
            "fge" => json!({"epochs": 400, "samples": 1, "lr": 0.2, "cycle_epochs": 2}),
            "swa" => json!({"epochs": 400, "lr": 0.2}),
            _ => json!({"epochs": 400, "lr": 0.2}),
        };
        let place = places(&run(&method(name, settings), &mut target, 1))[0];
        let mean = target.mean();
        assert!((0..2).all(|i| (place[i] - mean[i]).abs() < 1e-6), "{name}: {place:?} {mean:?}");
    }
}

#[test]
fn swag_has_the_covariance_of_its_formula() {
    for (covariance, collect, rank) in [("full", 8, 5), ("full", 6, 20), ("diagonal", 8, 5)] {
        let mut target = LinearRegression::new(20, 2.0);
        let settings = json!({"epochs": 2, "collect_epochs": collect, "collect": collect,
            "lr": 0.3, "collect_lr": 0.3, "momentum": 0.5, "schedule": "constant", "rank": rank,
            "covariance": covariance, "samples": 50_000});
        let posterior = run(&method("swag", settings), &mut target, 1);
        let path = descent(&mut LinearRegression::new(20, 2.0), 2 + collect, 0.3, 0.5);
        let points = &path[2..];
        let count = points.len() as f64;
        let mean = [0, 1].map(|i| points.iter().map(|p| p[i]).sum::<f64>() / count);
        let diagonal =
            [0, 1].map(|i| points.iter().map(|p| (p[i] - mean[i]).powi(2)).sum::<f64>() / count);
        let last = &points[points.len() - rank.min(points.len())..];
        let k = last.len() as f64;
        let low_rank = |i: usize, j: usize| {
            last.iter().map(|p| (p[i] - mean[i]) * (p[j] - mean[j])).sum::<f64>() / (k - 1.0)
        };
        let expected = [0, 1].map(|i| {
            [0, 1].map(|j| {
                let diagonal = if i == j { diagonal[i] } else { 0.0 };
                if covariance == "diagonal" { diagonal } else { 0.5 * (diagonal + low_rank(i, j)) }
            })
        });
        assert_gaussian(&places(&posterior), mean, expected, &format!("swag {covariance}"));
    }
}

#[test]
fn swa_is_the_mean_of_exactly_the_points_it_collects() {
    let mut target = LinearRegression::new(20, 2.0);
    let settings = json!({"epochs": 2, "collect_epochs": 9, "collect": 4, "lr": 0.3,
        "collect_lr": 0.3, "momentum": 0.5, "schedule": "constant"});
    let posterior = run(&method("swa", settings), &mut target, 1);
    let path = descent(&mut LinearRegression::new(20, 2.0), 11, 0.3, 0.5);
    let mean = [0, 1].map(|i| path[7..].iter().map(|p| p[i]).sum::<f64>() / 4.0);
    let place = places(&posterior)[0];
    assert!((0..2).all(|i| (place[i] - mean[i]).abs() < 1e-12), "{place:?} {mean:?}");
}

/// Samples of a cycle come after its last epochs; of `fge` in the middle of a cycle, where the rate is lowest.
#[test]
fn fge_takes_its_samples_where_the_rate_is_lowest() {
    let mut target = LinearRegression::new(20, 2.0);
    target.batch = 6;
    let settings = json!({"epochs": 3, "samples": 3, "cycle_epochs": 4, "lr": 0.1, "lr_high": 0.1, "lr_low": 0.001,
        "momentum": 0.5});
    let samples = places(&run(&method("fge", settings), &mut target, 1));
    // A sample is where the next epoch, of four batches, begins: after 5 epochs, 9 and 13, the last of which is the end.
    assert_eq!(target.visited.len(), 13 * 4);
    assert_eq!(samples[..2], [target.visited[5 * 4], target.visited[9 * 4]]);
    assert_eq!(samples.len(), 3);
}

#[test]
fn subspace_sampling_finds_the_posterior_in_the_plane_of_the_path() {
    // The path of descent spans the plane of two parameters, so mean + P z reaches everywhere. Under
    // a prior on z that is wide beside the likelihood, what it samples is the likelihood's Gaussian
    // times the prior's, both known in the coordinates of theta: the prior's covariance there is
    // s^2 P P', the covariance of the path times s^2.
    let mut target = LinearRegression::new(20, 0.0);
    let settings = json!({"epochs": 3, "collect_epochs": 6, "collect": 6, "lr": 0.2,
        "collect_lr": 0.2, "momentum": 0.5, "schedule": "constant", "rank": 2, "burn_in": 100,
        "samples": 40_000, "coordinate_std": 3.0});
    let posterior = run(&method("subspace", settings), &mut target, 1);
    // The same path by an independent loop.
    let path = descent(&mut LinearRegression::new(20, 0.0), 9, 0.2, 0.5);
    let points = &path[3..];
    let mean = [0, 1].map(|i| points.iter().map(|p| p[i]).sum::<f64>() / 6.0);
    let spread = |i: usize, j: usize| {
        points.iter().map(|p| (p[i] - mean[i]) * (p[j] - mean[j])).sum::<f64>() / 5.0 * 9.0
    };
    let prior = inverse([[spread(0, 0), spread(0, 1)], [spread(0, 1), spread(1, 1)]]);
    let likelihood = target.hessian();
    let sum = [0, 1].map(|i| [0, 1].map(|j| prior[i][j] + likelihood[i][j]));
    let covariance = inverse(sum);
    let (a, b) = (times(prior, mean), times(likelihood, target.mean()));
    let expected = times(covariance, [a[0] + b[0], a[1] + b[1]]);
    assert_gaussian(&places(&posterior), expected, covariance, "subspace");
}

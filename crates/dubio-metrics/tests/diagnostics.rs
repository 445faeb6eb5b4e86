//! Convergence of chains, against ArviZ and by what must hold.

use dubio_metrics::diagnostics::{Convergence, convergence, of_classes, of_gaussians};
use dubio_metrics::members::{Form, InMemory, Members as _};
use dubio_random::{normal::normals, stream::Stream};

fn wave(chain: usize, draw: usize) -> f64 {
    let i = draw as f64;
    ((chain as f64 + 1.0) * 0.7 * i + 0.11 * i * i).sin()
}

fn chains(count: usize, length: usize, f: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let each = (0..count).flat_map(|chain| (0..length).map(move |draw| (chain, draw)));
    each.map(|(chain, draw)| f(chain, draw)).collect()
}

/// import arviz as az, numpy as np  # 0.21.0
/// i = np.arange(51)
/// def show(x):
///     print(az.rhat(x), az.ess(x, method="bulk"), az.ess(x, method="tail"))
/// wave = np.array([np.sin((c + 1) * 0.7 * i + 0.11 * i * i) for c in range(3)])
/// show(wave)
/// show(wave + 1.5 * np.arange(3)[:, None])
/// show(np.array([np.sin(0.05 * (c + 1) * i) + 0.3 * np.sin(0.11 * i * i) for c in range(3)]))
/// show(wave * (1 + 3 * np.arange(3)[:, None]))
/// show(np.round(2 * wave))
/// show(wave[:1])
/// show(wave[:, :5])
/// from arviz.stats.diagnostics import _rhat, _z_scale, _split_chains  # az.rhat refuses a single chain
/// s = _split_chains(wave[:1]); print(max(_rhat(_z_scale(s)), _rhat(_z_scale(abs(s - np.median(s))))))
#[test]
fn numbers_are_those_of_arviz() {
    let slow = |c: usize, i: usize| {
        let i = i as f64;
        (0.05 * (c as f64 + 1.0) * i).sin() + 0.3 * (0.11 * i * i).sin()
    };
    // Halves to even, as numpy rounds.
    let ties = |c: usize, i: usize| (2.0 * wave(c, i)).round_ties_even();
    let cases = [
        (
            "mixed",
            3,
            chains(3, 51, wave),
            [1.001_038_875_131_311_7, 221.062_967_062_149_97, 173.907_759_615_968_9],
        ),
        (
            "apart",
            3,
            chains(3, 51, |c, i| wave(c, i) + 1.5 * c as f64),
            [1.898_899_017_213_864, 4.772_150_879_040_492, 77.013_574_660_633_4],
        ),
        (
            "slow",
            3,
            chains(3, 51, slow),
            [1.429_536_521_801_358_3, 6.809_950_706_113_14, 33.798_694_510_906_145],
        ),
        (
            "wide",
            3,
            chains(3, 51, |c, i| wave(c, i) * (1.0 + 3.0 * c as f64)),
            [1.572_134_780_011_938_3, 200.501_874_079_963_6, 77.013_574_660_633_4],
        ),
        ("ties", 3, chains(3, 51, ties), [1.001_044_619_319_827_2, 245.319_486_768_892_3, 150.0]),
        (
            "one",
            1,
            chains(1, 51, wave),
            [0.988_488_549_198_724_4, 51.886_644_705_408_905, 56.558_682_952_734_99],
        ),
        ("short", 3, chains(3, 5, wave), [0.827_932_666_515_700_2, 12.950_174_952_571_5, 12.0]),
    ];
    for (what, count, draws, expected) in cases {
        let Convergence { rhat, ess_bulk, ess_tail } =
            convergence(&draws, count).expect("they differ");
        let ours = [rhat, ess_bulk, ess_tail];
        for (ours, expected) in ours.iter().zip(expected) {
            assert!((ours / expected - 1.0).abs() < 1e-6, "{what}: {ours}, not {expected}");
        }
    }
}

#[test]
fn chains_that_stand_still_apart_never_agree_and_come_back_from_json() {
    let still = chains(2, 6, |chain, _| chain as f64);
    let found = convergence(&still, 2).expect("they differ");
    assert_eq!(found.rhat, f64::INFINITY);
    let text = serde_json::to_string(&found).expect("JSON");
    assert_eq!(serde_json::from_str::<Convergence>(&text).expect("the same"), found);
    assert_eq!(convergence(&[1.0; 12], 2), None, "all the same");
    assert_eq!(convergence(&[1.0, 2.0, 3.0], 1), None, "too few");
}

/// Two chains of 40 draws for 3 examples of 2 classes; the second one `apart`.
fn logits(apart: f64) -> InMemory<f64> {
    let each = (0..80).flat_map(|member| {
        let (chain, draw) = (member / 40, f64::from(member % 40));
        (0..3).flat_map(move |example| {
            let wave = (0.7 * draw * (f64::from(example) + 1.0) + 0.3 * draw * draw).sin();
            [wave + apart * f64::from(chain), 0.0]
        })
    });
    InMemory::new(each.collect(), [80, 3, 2]).expect("a shape")
}

#[test]
fn chains_in_one_place_pass_and_chains_apart_are_told_in_words() {
    let of = |apart: f64| of_classes(&logits(apart), Form::Logits, &[0, 1, 0], 2);
    let (good, bad) = (of(0.0), of(3.0));
    assert_eq!((good.chains, good.draws), (2, 40));
    assert_eq!(good.warnings(), Vec::<String>::new(), "{good:?}");
    let said = bad.warnings();
    assert!(
        said[0].starts_with("the chains have not converged: R-hat is above 1.10 for 100 %"),
        "{said:?}"
    );
    let loss = bad.loss.expect("it varies");
    assert!(loss.rhat > 1.1 && loss.ess_bulk < 20.0, "{loss:?}");
}

/// A warning that independent draws set off says nothing about chains: R-hat of 10 of them is above 1.1 in 39 % of
/// cases.
#[test]
fn independent_draws_of_short_chains_seldom_pass_the_limit() {
    const EXAMPLES: usize = 1000;
    for (chains, draws) in [(1, 10), (1, 12), (1, 20), (1, 40), (1, 100), (4, 10)] {
        let count = chains * draws;
        let means = normals(count * EXAMPLES, &Stream::root(3).child("independent").nth(draws));
        let means = InMemory::new(means, [count, EXAMPLES, 1]).expect("a shape");
        let stds =
            InMemory::new(vec![1.0; count * EXAMPLES], [count, EXAMPLES, 1]).expect("a shape");
        let found = of_gaussians(&means, &stds, &[0.0; EXAMPLES], chains);
        let above = found.predictions.as_ref().expect("they vary").above_limit;
        assert!(above < 0.03, "{chains} of {draws}: {above} above {}", found.rhat_limit);
        if found.rhat_limit > 1.1 {
            assert!(above > 0.001, "{chains} of {draws}: {above} above {}", found.rhat_limit);
        }
        let said = found.warnings();
        assert!(!said.iter().any(|told| told.contains("predictions")), "{said:?}");
    }
}

#[test]
fn a_prediction_is_the_same_whatever_form_it_is_given_in() {
    let logits = logits(0.5);
    let mut probs = Vec::new();
    for member in 0..80 {
        let mut rows = [0.0; 6];
        logits.read(member, 0..3, &mut rows);
        for row in rows.chunks(2) {
            let p = 1.0 / (1.0 + (row[1] - row[0]).exp());
            probs.extend([p, 1.0 - p]);
        }
    }
    let probs = InMemory::new(probs, [80, 3, 2]).expect("a shape");
    let (a, b) = (
        of_classes(&logits, Form::Logits, &[0, 1, 0], 2),
        of_classes(&probs, Form::Probs, &[0, 1, 0], 2),
    );
    assert_eq!(a.predictions, b.predictions);
    let (a, b) = (a.loss.expect("it varies"), b.loss.expect("it varies"));
    assert!((a.rhat - b.rhat).abs() < 1e-9 && (a.ess_bulk - b.ess_bulk).abs() < 1e-6);
}

#[test]
fn the_loss_of_a_regression_is_the_mean_of_its_negative_log_density() {
    // One example: the loss falls as the mean rises towards the target, so that their ranks are reversed.
    let draws: Vec<f64> = (0..20).map(|i| (f64::from(i) * 1.3).sin()).collect();
    let means = InMemory::new(draws.clone(), [20, 1, 1]).expect("a shape");
    let stds = InMemory::new(vec![0.5; 20], [20, 1, 1]).expect("a shape");
    let found = of_gaussians(&means, &stds, &[5.0], 1);
    let (all, loss) = (found.predictions.expect("it varies"), found.loss.expect("it varies"));
    let expected = convergence(&draws, 1).expect("it varies");
    assert_eq!((all.rhat_max, all.ess_bulk_min), (expected.rhat, expected.ess_bulk));
    assert!((loss.ess_bulk - expected.ess_bulk).abs() < 1e-9);
}

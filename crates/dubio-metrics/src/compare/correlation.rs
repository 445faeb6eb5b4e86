//! How far two scores say the same: their correlation over methods.

use serde::Serialize;

/// The correlation of two scores over methods.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Correlation {
    /// One score.
    pub a: String,
    /// The other.
    pub b: String,
    /// Correlation of the values (Ashukha et al. 2020, fig. 8 and 9); `None` where a score is the same for all.
    pub pearson: Option<f64>,
    /// Correlation of the ranks, equals sharing their mean rank.
    pub spearman: Option<f64>,
    /// Number of methods that have both.
    pub n: usize,
}

/// Correlations of every pair of scores over the methods that have both; `values[score][method]`.
/// Pairs with fewer than three methods are left out: two points always lie on a line.
pub fn correlations(names: &[String], values: &[Vec<Option<f64>>]) -> Vec<Correlation> {
    let mut all = Vec::new();
    for a in 0..names.len() {
        for b in a + 1..names.len() {
            let finite = |v: &Option<f64>| v.filter(|v| v.is_finite());
            let both = values[a].iter().zip(&values[b]);
            let both = both.filter_map(|(x, y)| Some((finite(x)?, finite(y)?)));
            let (x, y): (Vec<f64>, Vec<f64>) = both.unzip();
            if x.len() >= 3 {
                all.push(Correlation {
                    a: names[a].clone(),
                    b: names[b].clone(),
                    pearson: pearson(&x, &y),
                    spearman: pearson(&ranks(&x), &ranks(&y)),
                    n: x.len(),
                });
            }
        }
    }
    all
}

fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    let n = x.len() as f64;
    let mean = |v: &[f64]| v.iter().sum::<f64>() / n;
    let (mx, my) = (mean(x), mean(y));
    let moment =
        |f: &dyn Fn(f64, f64) -> f64| x.iter().zip(y).map(|(a, b)| f(a - mx, b - my)).sum();
    let (xx, yy, xy): (f64, f64, f64) =
        (moment(&|a, _| a * a), moment(&|_, b| b * b), moment(&|a, b| a * b));
    let same = |v: &[f64]| v.iter().all(|x| *x == v[0]);
    (!same(x) && !same(y)).then(|| (xy / (xx.sqrt() * yy.sqrt())).clamp(-1.0, 1.0))
}

/// Ranks from 1, equals sharing their mean rank.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |v: &f64| {
        let below = values.iter().filter(|other| *other < v).count() as f64;
        let equal = values.iter().filter(|other| *other == v).count() as f64;
        below + 0.5 * (equal + 1.0)
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlations_are_those_of_scipy() {
        // scipy.stats.pearsonr([1, 2, 3, 5], [2, 1, 4, 4]) = 0.7481900559272089
        // scipy.stats.spearmanr([1, 2, 3, 5], [2, 1, 4, 4]) = 0.7378647873726218
        let names = ["a".to_string(), "b".to_string()];
        let some = |v: &[f64]| v.iter().map(|v| Some(*v)).collect();
        let all = correlations(&names, &[some(&[1., 2., 3., 5.]), some(&[2., 1., 4., 4.])]);
        assert!((all[0].pearson.expect("defined") - 0.7481900559272089).abs() < 1e-12);
        assert!((all[0].spearman.expect("defined") - 0.7378647873726218).abs() < 1e-12);
        let flat = correlations(&names, &[some(&[1., 2., 3.]), some(&[2., 2., 2.])]);
        assert_eq!((flat[0].pearson, flat[0].spearman), (None, None));
        assert!(correlations(&names, &[some(&[1., 2.]), some(&[2., 3.])]).is_empty());
    }
}

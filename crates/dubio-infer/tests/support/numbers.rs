//! Small matrices, and means of chains beside what they must be.

pub fn inverse([[a, b], [c, d]]: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
    let det = a * d - b * c;
    [[d / det, -b / det], [-c / det, a / det]]
}

pub fn times(m: [[f64; 2]; 2], v: [f64; 2]) -> [f64; 2] {
    [m[0][0] * v[0] + m[0][1] * v[1], m[1][0] * v[0] + m[1][1] * v[1]]
}

/// A function of a symmetric matrix, applied to its eigenvalues.
pub fn of_eigenvalues(m: [[f64; 2]; 2], f: impl Fn(f64) -> f64) -> [[f64; 2]; 2] {
    let angle = 0.5 * (2.0 * m[0][1]).atan2(m[0][0] - m[1][1]);
    let (s, c) = angle.sin_cos();
    let along = |s: f64, c: f64| c * c * m[0][0] + 2.0 * s * c * m[0][1] + s * s * m[1][1];
    let (first, second) = (f(along(s, c)), f(along(c, -s)));
    [
        [c * c * first + s * s * second, s * c * (first - second)],
        [s * c * (first - second), s * s * first + c * c * second],
    ]
}

/// The solution of `matrix x = right`, by elimination with pivots.
pub fn solved(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for column in 0..n {
        let largest =
            |a: &usize, b: &usize| matrix[*a][column].abs().total_cmp(&matrix[*b][column].abs());
        let pivot = (column..n).max_by(largest).expect("rows");
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        for row in column + 1..n {
            let factor = matrix[row][column] / matrix[column][column];
            for k in column..n {
                matrix[row][k] -= factor * matrix[column][k];
            }
            right[row] -= factor * right[column];
        }
    }
    for row in (0..n).rev() {
        let rest: f64 = (row + 1..n).map(|k| matrix[row][k] * right[k]).sum();
        right[row] = (right[row] - rest) / matrix[row][row];
    }
    right
}

/// A mean over a chain and its standard error, from the spread of 50 batches.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let batches: Vec<f64> = values
        .chunks_exact(values.len() / 50)
        .map(|batch| batch.iter().sum::<f64>() / batch.len() as f64)
        .collect();
    let count = batches.len() as f64;
    let mean = batches.iter().sum::<f64>() / count;
    let spread = batches.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (spread / count).sqrt())
}

/// Mean and covariance of samples are the known ones, within five standard errors.
pub fn assert_gaussian(
    samples: &[[f64; 2]],
    mean: [f64; 2],
    covariance: [[f64; 2]; 2],
    what: &str,
) {
    for i in 0..2 {
        let values: Vec<f64> = samples.iter().map(|s| s[i]).collect();
        let (value, error) = mean_and_error(&values);
        assert!(
            (value - mean[i]).abs() < 5.0 * error,
            "{what}: mean {i} is {value}, not {} (error {error})",
            mean[i]
        );
        for j in 0..=i {
            let products: Vec<f64> =
                samples.iter().map(|s| (s[i] - mean[i]) * (s[j] - mean[j])).collect();
            let (value, error) = mean_and_error(&products);
            let expected = covariance[i][j];
            assert!(
                (value - expected).abs() < 5.0 * error,
                "{what}: covariance {i}{j} is {value}, not {expected} (error {error})"
            );
            // The test can tell: the error itself must be small beside what is measured.
            assert!(error < 0.1 * covariance[i][i].max(covariance[j][j]), "{what}: error {error}");
        }
    }
}

/// The stationary variance of `x` in `v' = (1 - a) v - lr h x + Normal(0, 2 a lr T / N)`, `x' = x + v'`, by
/// running the recursion of the covariances until it stands still.
pub fn stationary_variance(lr: f64, friction: f64, temperature: f64, n: f64, h: f64) -> f64 {
    let noise = 2.0 * friction * lr * temperature / n;
    let (mut xx, mut xv, mut vv) = (0.0, 0.0, 0.0);
    for _ in 0..100_000 {
        let (c, g) = (1.0 - friction, lr * h);
        let new_vv = c * c * vv - 2.0 * c * g * xv + g * g * xx + noise;
        let cross = c * xv - g * xx; // of x and v'
        (xx, xv, vv) = (xx + 2.0 * cross + new_vv, cross + new_vv, new_vv);
    }
    xx
}

//! The numbers of laplace-torch.

use serde_json::json;

use crate::case::{case, softmax};
use crate::support::*;

/// laplace-torch 0.3 with curvlinops 3.0.1, torch 2 in double precision:
///
/// wave = lambda n, k: torch.tensor([math.sin(k * (i + 1)) for i in range(n)])
/// class Ones(nn.Module):
///     def forward(self, x): return torch.cat([x, torch.ones(len(x), 1)], 1)
/// def mlp(outputs):  # biases as weights of a constant input, so that factors are of both together
///     w = wave(4 * 3 + 4 + outputs * 4 + outputs, 0.7)
///     a, b = nn.Linear(4, 4, bias=False), nn.Linear(5, outputs, bias=False)
///     a.weight.data = torch.cat([w[:12].view(4, 3), w[12:16, None]], 1)
///     b.weight.data = torch.cat([w[16:16 + 4 * outputs].view(outputs, 4), w[16 + 4 * outputs:, None]], 1)
///     return nn.Sequential(Ones(), a, nn.ReLU(), Ones(), b)
/// def conv():
///     w = wave(2 * 9 * 3 + 3 * 9 * 3, 0.7)
///     a, b = nn.Conv2d(2, 3, 3, 2, 1, bias=False), nn.Conv2d(3, 3, 3, 1, 1, bias=False)
///     a.weight.data = w[:54].view(3, 3, 2, 3).permute(3, 2, 0, 1)
///     b.weight.data = w[54:].view(3, 3, 3, 3).permute(3, 2, 0, 1)
///     return nn.Sequential(a, nn.ReLU(), b, nn.AdaptiveAvgPool2d(1), nn.Flatten())
/// x, labels, targets = wave(36, 1.3).view(12, 3), torch.arange(12) % 3, wave(12, 2.1)[:, None]
/// images = wave(300, 1.3).view(6, 5, 5, 2).permute(0, 3, 1, 2)
/// test, test_images = wave(6, 0.4).view(2, 3), wave(100, 0.4).view(2, 5, 5, 2).permute(0, 3, 1, 2)
/// la = Laplace(model, task, "all", structure, prior_precision=2.5)  # sigma_noise=0.4 for "regression"
/// la.fit(loader of one batch); la.log_marginal_likelihood()
/// la(test, pred_type="glm", link_approx="probit")  # for "regression" mean and variance without noise
#[test]
fn marginal_likelihoods_and_predictions_are_those_of_laplace_torch() {
    for (name, structure, evidence, expected) in [
        ("mlp", "diag", -43.777978, [0.24474, 0.679782, 0.075479, 0.280059, 0.637901, 0.08204]),
        ("mlp", "kfac", -43.363282, [0.242715, 0.685408, 0.071876, 0.278882, 0.642864, 0.078254]),
        ("mlp", "full", -42.582553, [0.233318, 0.698359, 0.068323, 0.270936, 0.653656, 0.075408]),
        ("conv", "diag", -113.786039, [0.355389, 0.338663, 0.305949, 0.377814, 0.338457, 0.283729]),
        ("conv", "kfac", -110.998876, [0.354996, 0.338737, 0.306267, 0.377377, 0.338558, 0.284065]),
        ("conv", "full", -111.026715, [0.354969, 0.338743, 0.306288, 0.377367, 0.338567, 0.284067]),
        ("regression", "diag", -72.741707, [0.333844, 0.478633, 0.498803, 0.82947, 0.0, 0.0]),
        ("regression", "kfac", -70.518504, [0.333844, 0.478633, 0.470556, 0.794185, 0.0, 0.0]),
        ("regression", "full", -66.856789, [0.333844, 0.478633, 0.382555, 0.723593, 0.0, 0.0]),
    ] {
        let case = case(name);
        let settings = json!({"epochs": 0, "structure": structure, "prior_precision": 2.5,
            "predict": "extended-probit"});
        let method = method("laplace", settings);
        let posterior = case.posterior(&method);
        let ours = posterior.records[0].report[1].1;
        assert!((ours - evidence).abs() < 1e-5, "{name} {structure}: {ours} {evidence}");
        let outputs = case.outputs(&method, &posterior);
        let ours = if name == "regression" {
            let variance = |log_std: f64| (2.0 * log_std).exp() - 0.16;
            vec![outputs[0], outputs[2], variance(outputs[1]), variance(outputs[3])]
        } else {
            outputs.chunks(3).flat_map(softmax).collect()
        };
        for (ours, expected) in ours.iter().zip(expected) {
            assert!((ours - expected).abs() < 2e-6, "{name} {structure}: {ours} {expected}");
        }
    }
}

/// T48. The precision that is chosen acts on predictions and samples alike; there is no damping that could be dropped. The
/// same with `la.optimize_prior_precision(method="marglik", pred_type="glm", n_steps=3000, lr=0.05)`.
#[test]
fn the_best_prior_precision_is_that_of_laplace_torch() {
    for (name, structure, precision, evidence) in [
        ("mlp", "kfac", 0.6308, -33.840378),
        ("mlp", "full", 0.4565, -31.136218),
        ("conv", "kfac", 0.229, -44.432634),
        ("conv", "full", 0.087, -36.076476),
    ] {
        let settings = json!({"epochs": 0, "structure": structure});
        let posterior = case(name).posterior(&method("laplace", settings));
        let report = &posterior.records[0].report;
        assert!((report[0].1 - precision).abs() < 1e-4, "{name} {structure}: {report:?}");
        assert!((report[1].1 - evidence).abs() < 1e-5, "{name} {structure}: {report:?}");
    }
}

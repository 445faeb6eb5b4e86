"""Python's numbers are the command's, to the last bit."""

import numpy as np
import pytest
from conftest import FIXTURES, SHARED, binary, plain

import dubio

CLASSES = ("probs", "logits", "log_probs")


def files():
    found = sorted(FIXTURES.glob("*.npz"))
    return [pytest.param(path, id=path.stem) for path in found]


def of_arrays(path, **settings):
    arrays = dict(np.load(path))
    forms = {name: arrays[name] for name in CLASSES if name in arrays}
    if forms:
        return dubio.evaluate(labels=arrays["labels"], **forms, **settings)
    known = ("mean", "std", "var", "samples", "quantiles", "levels", "lower", "upper", "targets")
    return dubio.regression.evaluate(**{name: arrays[name] for name in known if name in arrays}, **settings)


@pytest.mark.parametrize("path", files())
def test_arrays_score_as_the_file_does(path):
    arrays = np.load(path).files
    if "labels" not in arrays and "targets" not in arrays:
        pytest.skip("predictions without truth")
    expected = binary("evaluate", path, "--json", "--resamples", 50)
    assert plain(of_arrays(path, resamples=50)) == expected
    form = dubio.evaluate(path, resamples=50) if "labels" in arrays else dubio.regression.evaluate(path, resamples=50)
    assert plain(form) == expected


@pytest.mark.parametrize("name", ["densenet-cifar100", "features-concrete", "resnets-cifar10"])
def test_published_predictions_score_as_the_file_does(name):
    path = SHARED / f"predictions/{name}.npz"
    if not path.exists():
        pytest.skip("the published predictions are not here")
    assert plain(of_arrays(path, resamples=0)) == binary("evaluate", path, "--json", "--no-intervals")


def test_checks_comparisons_and_temperatures_are_the_commands():
    path = FIXTURES / "ensemble.npz"
    checked = dubio.check(path, replicates=100).to_dict()
    printed = binary("check", path, "--json", "--replicates", 100)
    for row in checked["statistics"]:
        same = printed["statistics"][row["statistic"]]
        assert same.pop("box") == row["box_plot"]
        assert same == {key: row[key] for key in same}
    arrays = dict(np.load(path))
    form = next(name for name in CLASSES if name in arrays)
    fitted = dubio.calibrate(labels=arrays["labels"], **{form: arrays[form]})
    assert fitted.temperature == binary("calibrate", path, "--json")["temperature"]


def test_deep_ensemble_equivalents_are_the_commands(tmp_path):
    draws = np.random.default_rng(3)
    labels = draws.integers(0, 3, 80)
    deep, swag = (draws.normal(size=(5, 80, 3)) + np.eye(3)[labels] for _ in range(2))
    for name, logits in (("baseline", deep), ("swag", swag)):
        np.savez(tmp_path / f"{name}.npz", logits=logits, labels=labels)
    found = dubio.dee({"swag": swag}, labels, baseline=deep, form="logits", scores=["accuracy", "nll"], draws=3)
    words = ["--score", "accuracy,nll", "--draws", 3, "--json"]
    printed = binary("dee", "--baseline", tmp_path / "baseline.npz", tmp_path / "swag.npz", *words)
    assert len(printed) == 20
    rows = [{**one, **row} for one in found["methods"] for row in one["rows"]]
    assert [{key: row[key] for key in printed[0]} for row in rows] == printed
    pytest.importorskip("pandas")
    assert {"dataset", "model", *found.to_pandas().columns} == set(printed[0])


def test_equivalents_of_a_table_are_the_commands(tmp_path):
    table = tmp_path / "curves.csv"
    rows = [f"X,net,{m},{n},cll,{v}" for m, n, v in [("deep", 1, -1), ("deep", 2, -0.5), ("swag", 1, -0.8), ("swag", 2, -0.4)]]
    table.write_text("\n".join(["dataset,model,method,n_samples,metric,value", *rows]) + "\n")
    found = dubio.dee(table=str(table), baseline="deep").to_dict()["methods"]
    assert [row["dee"] for one in found for row in one["rows"] if one["method"] == "swag"] == [pytest.approx(1.4), "> 2"]
    printed = binary("dee", "--table", table, "--baseline", "deep", "--json")
    assert [row["dee"] for one in found for row in one["rows"]] == [row["dee"] for row in printed]


def test_diagnoses_are_the_commands(tmp_path):
    draws = np.random.default_rng(4)
    labels, targets = np.arange(30) % 3, draws.normal(size=30)
    logits, mean, std = draws.normal(size=(40, 30, 3)), draws.normal(size=(40, 30)), np.ones((40, 30))
    np.savez(tmp_path / "classes.npz", logits=logits, labels=labels)
    np.savez(tmp_path / "numbers.npz", mean=mean, std=std, targets=targets)
    for path, found in (
        (tmp_path / "classes.npz", dubio.diagnose(logits=logits, labels=labels, chains=4)),
        (tmp_path / "numbers.npz", dubio.diagnose(mean=mean, std=std, targets=targets, chains=4)),
    ):
        printed = binary("diagnose", path, "--chains", 4, "--json")
        assert dubio.diagnose(path, chains=4).to_dict() == printed
        del printed["file"]
        assert found.to_dict() == printed
        assert all(name in repr(found) for name in ("predictions, median", "predictions, worst", "loss", "ess_tail"))
    assert "too few draws" in repr(dubio.diagnose(logits=logits[:3], labels=labels))
    with pytest.raises(dubio.PredictionError, match="40 members cannot be 3 chains of one length"):
        dubio.diagnose(logits=logits, labels=labels, chains=3)


def test_calibrated_predictions_are_what_the_command_writes(tmp_path):
    path = FIXTURES / "ensemble.npz"
    out = tmp_path / "out.npz"
    binary("calibrate", path, "--apply", path, "-o", out, "--json")
    written = np.load(out)["log_probs"]
    applied = dubio.calibrate(path).apply_log(path)
    assert (written.reshape(applied.shape) == applied).all()


def test_a_fit_is_what_train_does(tmp_path):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    np.savez(tmp_path / "d.npz", x_train=x[:40], y_train=y[:40], x_test=x[40:], y_test=y[40:])
    import subprocess

    from conftest import BINARY

    words = ["train", "swag", "--data", tmp_path / "d.npz", "--network", "mlp-5", "--seed", "3"]
    words += ["--set", "epochs=3", "--set", "batch=8", "-o", tmp_path / "p.npz"]
    subprocess.run([BINARY, *map(str, words)], check=True, capture_output=True)
    model = dubio.fit("swag", x[:40], y[:40], network="mlp-5", seed=3, epochs=3, batch=8)
    assert (model.predict_samples(x[40:]) == np.load(tmp_path / "p.npz")["logits"]).all()

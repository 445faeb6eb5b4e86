"""The package: names from the cards, results, helpers, estimators."""

import doctest
import importlib
import inspect
import pickle
import subprocess
from pathlib import Path

import numpy as np
import pytest
import stubs
from conftest import BINARY, FIXTURES, binary

import dubio
from dubio._cards import CARDS, scores


def test_every_score_of_the_library_is_a_function_with_its_own_words():
    listed = {row["name"] for row in binary("list", "scores", "--json")}
    assert {card["name"] for card in CARDS["scores"]} == listed
    for module, task in ((dubio, "classification"), (dubio.regression, "regression")):
        for card in scores(task):
            function = getattr(module, card["name"].replace(".", "_"))
            assert card["summary"] in function.__doc__ and card["citation"] in function.__doc__
            assert function.__name__ in module.__all__


def test_methods_and_networks_are_the_librarys():
    assert dubio.METHODS == [row["name"] for row in binary("list", "methods", "--json")]
    assert dubio.NETWORKS == [row["name"] for row in binary("list", "networks", "--json")]


def test_stubs_are_those_of_this_version():
    for name, text in stubs.stubs().items():
        assert (stubs.FOLDER / name).read_text() == text, "python scripts/stubs.py writes them again"


def test_every_function_gives_the_score_of_the_card(example):
    probs, labels = example
    costs, reference = 1 - np.eye(5), probs[::-1].copy()
    card = dubio.evaluate(probs, labels, costs=costs, reference=reference, intervals=False)
    for entry in scores("classification"):
        more = {"costs": {"costs": costs}, "reference": {"reference": reference}}.get(entry["requires"], {})
        found = getattr(dubio, entry["name"].replace(".", "_"))(probs, labels, **more)
        assert found == card[entry["name"]].value, entry["name"]
    assert dubio.nll(probs, labels, calibrated=True) == card["calibrated.nll"].value


def test_signatures_have_the_settings_of_the_score_and_their_defaults(example):
    defaults = {}
    for module, task in ((dubio, "classification"), (dubio.regression, "regression")):
        for card in scores(task):
            taken = inspect.signature(getattr(module, card["name"].replace(".", "_"))).parameters
            found = {name: taken[name].default for name in card["settings"]}
            assert set(found) == {"bins", "edges", "threshold", "level"} & set(taken), card["name"]
            defaults.update(found)
    assert len(defaults) == 4 and set(inspect.signature(dubio.tace).parameters) >= {"bins", "threshold", "calibrated"}
    probs, labels = example
    level, classes = defaults.pop("level"), {"intervals": False}
    assert same(dubio.evaluate(probs, labels, **classes), dubio.evaluate(probs, labels, **defaults, **classes))
    numbers = (probs[0, :, 0], probs[0, :, 1], probs[0, :, 2])
    assert same(dubio.regression.evaluate(*numbers), dubio.regression.evaluate(*numbers, level=level))


def same(a, b):
    return a.to_dict() == b.to_dict()


def test_settings_may_be_numbers_of_numpy_and_paths(example, tmp_path):
    probs, labels = example
    assert dubio.ece(probs, labels, bins=np.int64(7)) == dubio.ece(probs, labels, bins=7)
    X, y = np.arange(40.0).reshape(-1, 1), np.arange(40) // 20
    fit = lambda epochs, lr: dubio.fit("sgd", X, y, network="mlp-3", epochs=epochs, lr=lr).predict_proba(X)
    assert (fit(np.arange(3)[2], np.float32(0.25)) == fit(2, 0.25)).all()
    suite = tmp_path / "none.toml"
    with pytest.raises(dubio.Error, match="none.toml"):
        dubio.run(suite, runs=tmp_path)


def test_settings_reach_the_score(example):
    probs, labels = example
    assert dubio.sce(probs, labels, bins=3) != dubio.sce(probs, labels)
    edges = dubio.evaluate(probs, labels, edges="torchmetrics", bins=3, intervals=False)
    assert dubio.ece(probs, labels, bins=3, edges="torchmetrics") == edges["ece"].value


def test_a_card_is_a_table_a_page_and_a_frame(example):
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    card = dubio.evaluate(*example, resamples=20, scores=["accuracy", "nll"])
    low, high = card["accuracy"].interval
    assert low <= card["accuracy"].value <= high
    assert "accuracy" in repr(card) and "<td>accuracy</td>" in card._repr_html_()
    assert float(card.to_pandas().loc["nll", "value"]) == card["nll"].value
    assert card.to_polars().filter(__import__("polars").col("name") == "nll")["value"][0] == card["nll"].value
    with pytest.raises(KeyError, match="there are accuracy"):
        card["ece"]


def test_names_are_escaped_on_a_page(example):
    probs, labels = example
    compared = dubio.compare({"<b>a</b>": probs, "b": probs[:1]}, labels, resamples=20)
    assert "<b>" not in compared._repr_html_() and "&lt;b&gt;" in compared._repr_html_()


def test_groups_ood_and_reports(example, tmp_path):
    probs, labels = example
    card = dubio.evaluate(probs, labels, groups={"site": labels % 2}, ood={"far": probs[:, ::-1]}, resamples=20)
    assert "group.1.ece" in card and "ood.far.auroc.total" in card
    page = tmp_path / "report.html"
    dubio.report({"mine": probs, "other": probs[:2]}, labels, page, resamples=20)
    assert "mine" in page.read_text()
    assert dubio.report({"mine": probs}, labels, resamples=20, format="markdown").startswith("#")


def test_a_report_that_is_shown_says_where_it_is_instead_of_all_its_text(example, tmp_path):
    text = dubio.report({"mine": example[0]}, example[1], tmp_path / "mine.md", resamples=20, format="markdown")
    assert repr(text) == f"<report of {len(text)} characters, in {tmp_path / 'mine.md'}>"
    assert (tmp_path / "mine.md").read_text() == text == str(text)
    again = pickle.loads(pickle.dumps(text))
    assert (again, repr(again)) == (text, repr(text))


@pytest.mark.parametrize("format", ["html", "markdown", "latex", "csv", "svg", "pdf"])
def test_reports_in_every_format_are_the_commands(example, tmp_path, format):
    probs, labels = example
    models = {"mine": probs, "other": probs[:2]}
    for name, given in models.items():
        (tmp_path / name).mkdir()  # so that a run is called as the model is
        np.savez(tmp_path / name / "test.npz", probs=given, labels=labels)
    out = tmp_path / ("report.html" if format == "html" else "out")
    words = ["report", *models, "--format", format, "-o", out, "--resamples", 20]
    subprocess.run([BINARY, *map(str, words)], cwd=tmp_path, check=True, capture_output=True)
    here = tmp_path / "here"
    given = dubio.report(models, labels, here, format=format, resamples=20)
    several = format in ("csv", "svg", "pdf")
    written = {path.name: path.read_bytes() for path in (sorted(out.iterdir()) if out.is_dir() else [out])}
    found = given if several else {next(iter(written)): given.encode()}
    assert found == written
    assert all((here / name).read_bytes() == page for name, page in found.items()) if several else here.read_text() == given


def test_a_format_that_does_not_exist_is_told(example):
    with pytest.raises(dubio.SettingError, match="format must be one of html, markdown, latex, csv, svg, pdf, got docx"):
        dubio.report({"mine": example[0]}, example[1], format="docx")


def test_batches_and_merged_batches_score_as_the_whole(example):
    probs, labels = example
    whole = dubio.evaluate(probs, labels, resamples=20)
    first, second = dubio.Accumulator(resamples=20), dubio.Accumulator(resamples=20)
    first.update(probs[:, :70], labels[:70])
    second.update(probs[:, 70:], labels[70:])
    assert first.merge(second).compute().to_dict() == whole.to_dict()
    with pytest.raises(dubio.PredictionError, match="after a batch"):
        first.update(probs[:2], labels)


def test_an_estimator_fits_predicts_and_comes_back_from_a_pickle():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    names = np.where(X[:, 0] > 0, "right", "left")
    model = dubio.fit("deep-ensemble", X, names, network="mlp-20", members=2, epochs=40, batch=16)
    assert model.score(X, names) > 0.9
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    before = X.copy()
    pickled = pickle.dumps(model)
    X *= 2  # what it was trained on is its own
    assert (pickle.loads(pickle.dumps(model)).predict_samples(before) == model.predict_samples(before)).all()
    X /= 2
    again = pickle.loads(pickled).set_params(epochs=1, seed=5)
    assert (again.predict_samples(X) == model.predict_samples(X)).all(), "settings for the next fit"
    third = pickle.loads(pickle.dumps(again))
    method, settings, *rest = third._trained
    third._trained = (method, settings.replace('"epochs": 40', '"epochs": 1'), *rest)  # would learn something else
    assert third._trained[1] != settings
    assert (third.predict_samples(X) == model.predict_samples(X)).all(), "it was not trained again"
    y = 3 * X[:, 0] + rng.normal(size=120)
    mean, std = dubio.fit("swag", X, y, network="mlp-20", epochs=40, samples=5, batch=16).predict(X, return_std=True)
    assert mean.shape == std.shape == (120,) and (std > 0).all()
    assert np.corrcoef(mean, y)[0, 1] > 0.8
    with pytest.raises(dubio.SettingError, match="epochs"):
        dubio.fit("sgd", X, names, epochs=-1)


@pytest.mark.parametrize(
    "method, network, settings",
    [("swagg", "mlp-5", {}), ("sgd", "mpl-5", {}), ("sgd", "mlp-5", {"epoch": 3}), ("sgd", "mlp-5", {"epochs": "many"})],
)
def test_fit_says_of_a_wrong_name_what_the_command_says(method, network, settings, tmp_path):
    X, y = np.arange(40.0).reshape(-1, 1), np.arange(40) // 20
    np.savez(tmp_path / "mine.npz", x=X, y=y)
    settings = {"batch": 8, **settings}
    words = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    command = [BINARY, "train", method, "--data", "mine.npz", "--network", network, *words, "-o", "p.npz"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    with pytest.raises(dubio.SettingError) as raised:
        dubio.fit(method, X, y, network=network, **settings)
    assert done.returncode == 2 and str(raised.value) in done.stderr
    assert "did you mean" in done.stderr or settings.get("epochs") == "many"


def test_fit_reports_every_mistake_in_its_arrays():
    X = np.array([[1.0, np.nan], [np.inf, 2.0]])
    with pytest.raises(dubio.DataError) as raised:
        dubio.fit("sgd", X, np.array([0, 1, 1]))
    assert "array `x`: NaN at [0, 1], inf at [1, 0]" in str(raised.value)
    assert "array `y`: shape [3], where there are 2 inputs" in str(raised.value)


def test_columns_of_pandas_are_numbers_where_they_can_be_and_classes_where_they_are_text():
    pandas = pytest.importorskip("pandas")
    how = {"network": "mlp-3", "epochs": 1}
    X = pandas.DataFrame({"a": range(40), "b": [True, False] * 20})
    X["c"] = pandas.array(range(40), dtype="Int64")
    assert X.to_numpy().dtype == object
    numbers = X.astype(float).to_numpy()
    y = pandas.Series(range(40)).astype("Float64")
    model = dubio.fit("sgd", X, y, **how)
    assert model.classes_ is None
    assert (model.predict(X) == dubio.fit("sgd", numbers, y.to_numpy(float), **how).predict(numbers)).all()
    labels = pandas.Series([0, 1] * 20, dtype="Int64")
    assert dubio.accuracy(np.eye(2)[[0, 1] * 20], labels) == 1
    named = dubio.fit("sgd", X, labels.map({0: "no", 1: "yes"}).astype("category"), **how)
    assert list(named.classes_) == ["no", "yes"]
    with pytest.raises(dubio.PredictionError, match="dtype object"):
        dubio.fit("sgd", X.assign(c=pandas.array([None] * 40, dtype="Int64")), y, **how)


def test_columns_in_another_order_are_not_taken_for_those_of_training():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0)[::-1]})
    model = dubio.fit("sgd", X, np.arange(40) // 20, network="mlp-3", epochs=1)
    turned = X[["b", "a"]]
    with pytest.raises(dubio.PredictionError, match=r"in another order\n  give X\[estimator.feature_names_in_\]"):
        model.predict(turned)
    same = model.predict_proba(X)
    assert (model.predict_proba(turned[model.feature_names_in_]) == same).all()
    assert (model.predict_proba(X.to_numpy()) == same).all(), "arrays have no names"
    assert (pickle.loads(pickle.dumps(model)).predict_proba(X) == same).all()


def test_a_sparse_matrix_is_told_how_to_give_all_of_it():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(dubio.PredictionError, match=r"array `X`: sparse; give X.toarray\(\)"):
        dubio.fit("sgd", sparse.csr_matrix(np.eye(4)), [0, 1, 0, 1])


def test_a_table_with_text_is_told_how_to_encode_it():
    with pytest.raises(dubio.PredictionError, match=r"array `X`: dtype object; give numbers; pandas.get_dummies\(X\)"):
        dubio.fit("sgd", np.array([[1.0, "red"], [2.0, "blue"]], dtype=object), np.array([0, 1]))


def test_scores_are_a_list_or_separated_by_commas_as_on_the_command_line(example):
    probs, labels = example
    listed = dubio.evaluate(probs, labels, scores=["accuracy", "ece"], intervals=False)
    written = dubio.evaluate(probs, labels, scores="accuracy,ece", intervals=False)
    assert written.to_dict() == listed.to_dict() and len(written.to_dict()) > 0


def test_a_gpu_is_asked_for_by_name_and_a_missing_one_is_told():
    X, y = np.arange(40.0).reshape(-1, 1), np.arange(40) // 20
    settings = {"network": "mlp-5", "epochs": 3}
    cpu = dubio.fit("sgd", X, y, **settings).predict_samples(X)
    auto = dubio.fit("sgd", X, y, device="auto", **settings).predict_samples(X)
    try:
        dubio.fit("sgd", X, y, device="cuda", **settings)
    except dubio.SettingError as missing:
        assert "NVIDIA" in str(missing)
        np.testing.assert_array_equal(auto, cpu)
    with pytest.raises(dubio.SettingError, match="no device is called `gpu`; use cpu, cuda or auto"):
        dubio.fit("sgd", X, y, device="gpu", **settings)
    with pytest.raises(dubio.SettingError, match='precision="tf32" is for a GPU; add device="cuda"'):
        dubio.fit("sgd", X, y, precision="tf32", **settings)
    model = dubio.Estimator("sgd", device="auto", network="mlp-5")
    assert dubio.Estimator(**model.get_params()).device == "auto"
    assert repr(model) == "Estimator('sgd', network='mlp-5', seed=0, device='auto')"


def test_before_a_fit_and_after_one_that_failed_there_is_nothing_to_predict_with():
    X, y = np.arange(40.0).reshape(-1, 1), np.arange(40) // 20
    model = dubio.Estimator("sgd", network="mlp-5", epochs=-1)
    with pytest.raises(dubio.SettingError, match="epochs"):
        model.fit(X, y)
    for predict in (model.predict, model.predict_proba, model.predict_samples):
        with pytest.raises(dubio.SettingError, match=r"not fitted yet; call fit\(X, y\) first"):
            predict(X)


def test_a_fit_shows_how_far_it_is_unless_it_is_quick_or_told_not_to(capfd, monkeypatch):
    X, y = np.arange(4000.0).reshape(-1, 1), np.arange(4000) // 2000
    settings = {"network": "mlp-50", "epochs": 60, "batch": 20}
    dubio.fit("sgd", X[::100], y[::100], network="mlp-5", epochs=1)
    assert capfd.readouterr().err == ""
    monkeypatch.setattr("dubio._call.Bar.QUICK", 0.0)
    monkeypatch.setattr("dubio._call.Bar.BETWEEN", 0.01)
    shown = dubio.fit("sgd", X, y, **settings)
    assert "training [" in capfd.readouterr().err
    hidden = dubio.fit("sgd", X, y, progress=False, **settings)
    assert capfd.readouterr().err == ""
    assert (shown.predict_samples(X) == hidden.predict_samples(X)).all()


def test_scikit_learn_takes_estimators_and_scorers():
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.datasets import load_iris
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score

    from dubio.sklearn import evaluate_estimator, scorer

    X, y = load_iris(return_X_y=True)
    regression = LogisticRegression(max_iter=500)
    values = cross_val_score(regression, X, y, scoring=scorer("nll"), cv=3)
    assert (values < 0).all()
    fitted = regression.fit(X, y)
    assert evaluate_estimator(fitted, X, y, resamples=20)["accuracy"].value == fitted.score(X, y)
    model = dubio.Estimator("sgd", network="mlp-10", epochs=20, batch=16)
    assert clone(model).get_params() == model.get_params()
    assert cross_val_score(model, X, y, cv=3).mean() > 0.8


def test_a_study_runs_and_its_results_are_a_table(tmp_path):
    pytest.importorskip("pandas")
    suite = tmp_path / "s.toml"
    suite.write_text('data = ["digits"]\nnetworks = ["mlp-5"]\n[[methods]]\nmethod = "sgd"\nepochs = 1\n')
    study = dubio.run(suite, runs=tmp_path / "runs", progress=False)
    assert len(study["finished"]) == 1 and not study["failed"]
    assert Path(study["report"]).exists() and len(study.to_pandas()) > 10
    with pytest.raises(dubio.SuiteError, match="s.toml:1:9"):
        suite.write_text(suite.read_text().replace("digits", "digts"))
        dubio.run(suite, runs=tmp_path / "runs", progress=False)


def test_a_study_on_own_data_needs_no_folder_of_data_sets(tmp_path, monkeypatch):
    for name in ("HOME", "DUBIO_DATA", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    np.savez(tmp_path / "mine.npz", x=np.arange(40.0).reshape(-1, 1), y=np.arange(40) // 20)
    suite = tmp_path / "s.toml"
    method = '[[methods]]\nmethod = "sgd"\nepochs = 1\nbatch = 8\n'
    suite.write_text(f'data = ["{tmp_path / "mine.npz"}"]\nnetworks = ["mlp-5"]\n{method}')
    study = dubio.run(suite, runs=tmp_path / "runs", progress=False)
    assert len(study["finished"]) == 1 and not study["failed"]


@pytest.mark.parametrize("name", ["_evaluate", "_accumulator", "_fit", "_members", "regression"])
def test_the_examples_of_the_documentation_run(name):
    found = doctest.testmod(importlib.import_module(f"dubio.{name}"))
    assert found.attempted > 0 and found.failed == 0


def test_files_are_named_as_well_as_arrays(tmp_path):
    with pytest.raises(dubio.PredictionError, match="nowhere.npz"):
        dubio.evaluate(tmp_path / "nowhere.npz")
    assert dubio.evaluate(FIXTURES / "ensemble.npz", scores="nll", resamples=20)["nll"].n == 200

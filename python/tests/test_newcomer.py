"""Data that this project does not know go from file to report by the wheel's command, where there is no toolchain."""

import os
import struct
import subprocess
import zlib

import numpy as np
import pytest
from conftest import BINARY

datasets = pytest.importorskip("sklearn.datasets")


@pytest.fixture
def dubio_command(tmp_path):
    """Runs the command of the wheel in a folder, without anything else on the path."""
    alone = {"PATH": os.path.dirname(BINARY), "HOME": str(tmp_path)}

    def run(*words):
        done = subprocess.run([BINARY, *words], cwd=tmp_path, env=alone, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def png(pixels):
    """A grey image as a PNG file."""
    height, width = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def wine_csv(folder):
    wine = datasets.load_wine()
    names = ",".join([*(name.replace("/", "_") for name in wine.feature_names), "cultivar"])
    rows = [",".join([*map(repr, map(float, x)), wine.target_names[y]]) for x, y in zip(wine.data, wine.target)]
    (folder / "wine.csv").write_text("\n".join([names, *rows]) + "\n")
    return "wine.csv:target=cultivar", ["13 features", "classification: the target is text", "class_2", "143 train, 35 test"]


def digit_images(folder):
    digits = datasets.load_digits(n_class=3)
    for index, (image, label) in enumerate(zip(digits.images[:240], digits.target)):
        place = folder / "numerals" / ("test" if index % 4 == 0 else "train") / f"number {label}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{index}.png").write_bytes(png((image * 15).astype(np.uint8)))
    return "numerals:size=16x16", ["16 x 16", "number 2", "180 train, 60 test"]


def cancer_npz(folder):
    x, y = datasets.load_breast_cancer(return_X_y=True)
    np.savez(folder / "cancer.npz", x_train=x[:400], y_train=y[:400], x_test=x[400:], y_test=y[400:])
    return "cancer.npz", ["30 features", "400 train, 169 test"]


@pytest.mark.parametrize("made, network", [(wine_csv, "mlp-20"), (digit_images, "lenet5"), (cancer_npz, "mlp-20")])
def test_unknown_data_go_from_file_to_report_by_commands_alone(tmp_path, dubio_command, made, network):
    data, words = made(tmp_path)
    seen = dubio_command("data", "check", data)
    assert all(word in seen for word in words), seen
    few = ["--set", "members=2", "--set", "epochs=5", "--set", "batch=16"]
    dubio_command("train", "deep-ensemble", "--data", data, "--network", network, *few, "-o", "mine.npz")
    assert "accuracy" in dubio_command("evaluate", "mine.npz")
    dubio_command("report", "mine.npz", "-o", "mine.html")
    assert (tmp_path / "mine.html").read_text().lstrip().lower().startswith("<!doctype html>")


def test_after_pip_install_one_command_makes_a_report_of_saved_predictions(tmp_path, dubio_command):
    draws = np.random.default_rng(0)
    np.savez(tmp_path / "preds.npz", logits=draws.normal(size=(3, 50, 4)), labels=draws.integers(0, 4, 50))
    dubio_command("report", "preds.npz", "-o", "report.html")
    assert "calibration" in (tmp_path / "report.html").read_text()

"""Writes the data of the guide from what scikit-learn ships (1.9, numpy, Pillow): python make.py"""

import csv
import os

import numpy as np
from PIL import Image
from sklearn.datasets import load_diabetes, load_iris, load_sample_image

diabetes = load_diabetes(scaled=False)  # Efron et al., Least angle regression, 2004
with open("diabetes.csv", "w", newline="") as file:
    rows = csv.writer(file)
    rows.writerow([*diabetes.feature_names, "progression"])
    sex = diabetes.feature_names.index("sex")
    for x, y in zip(diabetes.data, diabetes.target):
        cells = [f"{value:g}" for value in x]
        cells[sex] = "a" if x[sex] == 1 else "b"  # the source does not say which is which
        rows.writerow([*cells, f"{y:g}"])

x, y = load_iris(return_X_y=True)  # Fisher, The use of multiple measurements in taxonomic problems, 1936
test = np.arange(len(y)) % 3 == 0
np.savez_compressed("iris.npz", x_train=x[~test], y_train=y[~test], x_test=x[test], y_test=y[test])

# Patches of two photographs (CC BY, Tzu Chen and dany13): can a network tell which one a patch is from?
draws = np.random.default_rng(0)
for name in ["china", "flower"]:
    photograph = load_sample_image(f"{name}.jpg")
    for part, count in [("train", 24), ("test", 12)]:
        os.makedirs(f"patches/{part}/{name}", exist_ok=True)
        for index in range(count):
            # Of different halves of the photograph, so that no patch is in both sets.
            left = draws.integers(0, 280) + (320 if part == "test" else 0)
            top = draws.integers(0, 380)
            patch = photograph[top : top + 40, left : left + 40]
            Image.fromarray(patch).resize((16, 16)).save(f"patches/{part}/{name}/{index}.png")

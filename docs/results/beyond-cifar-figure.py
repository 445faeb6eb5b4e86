#!/usr/bin/env python3
"""Draws Figure 9 of Seligmann et al. 2023 from the tables of beyond-cifar.md: scores on the test set (severity 0) and its
corruptions, ours and the published ones, of the first twelve methods.

    docs/results/beyond-cifar-figure.py docs/images/beyond-cifar.svg     # needs matplotlib
"""
import pathlib
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "dubio", "svg.fonttype": "none"})  # the same names of elements every time; text as text
import matplotlib.pyplot as plt

SECTIONS = {0: "### Test set", 1: "### Severity 1", 3: "### Severity 3", 5: "### Severity 5"}
SCORES = [("accuracy", "accuracy"), ("sece", "sECE: above 0 underconfident, below overconfident"), ("nll", "NLL")]
COLOURS = ["#000000", "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#7f7f7f", "#b8860b", "#8b0000", "#4b0082", "#2e8b57"]


def read(text):
    """{method: {severity: {"accuracy": .., "published accuracy": ..}}}"""
    found = {}
    for severity, title in SECTIONS.items():
        lines = text.split(title)[1].split("\n\n")[1].splitlines()
        names, published = [], ""
        for name in lines[0].strip("|").split("|")[1:]:
            name = name.strip()
            if name.startswith("published: "):
                published, name = "published ", name.removeprefix("published: ")
            names.append(published + name)
        for line in lines[2:]:
            method, *cells = [cell.strip() for cell in line.strip("|").split("|")]
            values = {name: float(cell.split()[0]) for name, cell in zip(names, cells) if cell != "—"}
            found.setdefault(method, {})[severity] = values
    return found


def main(out):
    found = read((pathlib.Path(__file__).parent / "beyond-cifar.md").read_text())
    figure, axes = plt.subplots(2, len(SCORES), figsize=(12, 6.6), sharex=True, sharey="col")
    for row, (kind, title) in enumerate([("", "dubio, 20 epochs"), ("published ", "published, 300 epochs")]):
        for axis, (score, name) in zip(axes[row], SCORES):
            for colour, (method, by_severity) in zip(COLOURS, found.items()):
                points = [(s, values[kind + score]) for s, values in by_severity.items() if kind + score in values]
                if points:
                    axis.plot(*zip(*points), marker="o", markersize=3, linewidth=1.2, color=colour, label=method)
            axis.set_xticks(list(SECTIONS))
            axis.grid(alpha=0.3)
            if score == "sece":
                axis.axhline(0, color="black", linewidth=0.8)
            if row == 0:
                axis.set_title(name, fontsize=9)
            else:
                axis.set_xlabel("severity of the corruptions, 0: test set", fontsize=9)
        axes[row][0].set_ylabel(title)
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=6, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    figure.savefig(out, metadata={"Date": None})


main(sys.argv[1])

"""Checked by mypy, not run: what a typed program may write."""

from typing import Dict, Optional, Tuple

import numpy as np

import dubio

probs = np.full((3, 2), 0.5)
card: dubio.Scores = dubio.evaluate(probs, [0, 1, 0])
value: Optional[float] = card["ece"].value
interval: Optional[Tuple[float, float]] = card["ece"].interval
ece: float = dubio.ece(probs, [0, 1, 0], bins=10, edges="torchmetrics")
crps: float = dubio.regression.crps([0.0], [1.0], [0.5])
temperature: float = dubio.calibrate(probs, [0, 1, 0]).temperature
passes: bool = dubio.check(probs, [0, 1, 0], statistic="accuracy").passes
page: str = dubio.report({"mine": probs}, [0, 1, 0])
drawings: Dict[str, bytes] = dubio.report({"mine": probs}, [0, 1, 0], format="svg")
model: dubio.Estimator = dubio.fit("swag", probs, [0, 1, 0])

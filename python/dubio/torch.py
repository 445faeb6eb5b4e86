"""Predictions of PyTorch models: one network, Monte Carlo dropout, or an ensemble."""

from __future__ import annotations

from typing import Any, Iterable, List, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._errors import PredictionError

__all__ = ["predict"]


def predict(
    model: Union[Any, Sequence[Any]], loader: Iterable[Any], samples: int = 1, device: Any = None
) -> Tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Logits ``[members, examples, classes]`` and labels of a loader's batches ``(inputs, labels)``.

    ``model`` is one module or a list of them: an ensemble. With ``samples`` above 1 every module predicts that
    often with its dropout layers at work (MC dropout, Gal and Ghahramani 2016), all else in evaluation mode.
    Modules are left in the mode they were in. Seed with ``torch.manual_seed``.

    >>> logits, labels = dubio.torch.predict(model, loader, samples=30)    # doctest: +SKIP
    >>> card = dubio.evaluate(logits=logits, labels=labels)                # doctest: +SKIP
    """
    import torch

    models: List[Any] = list(model) if isinstance(model, (list, tuple)) else [model]
    members, labels = [], []
    for number, network in enumerate(models):
        modes = [(module, module.training) for module in network.modules()]
        network.eval()
        if samples > 1:
            dropout = [m for m in network.modules() if isinstance(m, torch.nn.modules.dropout._DropoutNd)]
            if not dropout:
                raise PredictionError(f"samples={samples}, but model {number} has no dropout layer; every pass would be the same")
            for module in dropout:
                module.train()
        try:
            for sample in range(samples):
                outputs = []
                with torch.no_grad():
                    for batch in loader:
                        inputs, truth = batch[0], batch[1]
                        outputs.append(network(inputs.to(device) if device is not None else inputs).float().cpu())
                        if number == 0 and sample == 0:
                            labels.append(truth.cpu())
                members.append(torch.cat(outputs).numpy())
        finally:
            for module, mode in modes:
                module.train(mode) if module is network else setattr(module, "training", mode)
    return np.stack(members), torch.cat(labels).numpy()

"""A Lightning callback that scores a model's validation and test predictions."""

from __future__ import annotations

from typing import Any, Sequence, Union

from ._accumulator import Accumulator, scalar

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:  # the older name of the package
    from pytorch_lightning.callbacks import Callback

__all__ = ["UncertaintyCallback"]


class UncertaintyCallback(Callback):  # type: ignore[misc]
    """Logs scores of what ``validation_step`` and ``test_step`` return under ``logits`` and ``labels``.

    They are logged as ``val_ece``, ``test_nll`` and so on; :attr:`card` has the last ones with their intervals.
    """

    def __init__(self, scores: Union[str, Sequence[str]] = ("accuracy", "nll", "ece", "brier"), **settings: Any) -> None:
        self.collected = Accumulator(form="logits", scores=scores, **settings)
        self.card: Any = None

    def _collect(self, outputs: Any) -> None:
        self.collected.update(outputs["logits"], outputs["labels"])

    def _log(self, module: Any, prefix: str) -> None:
        if len(self.collected):
            self.card = self.collected.compute()
            for name, value in scalar(self.card).items():
                module.log(f"{prefix}_{name}", value)
        self.collected.reset()

    def on_validation_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, *rest: Any, **more: Any) -> None:
        self._collect(outputs)

    def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        self._log(pl_module, "val")

    def on_test_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, *rest: Any, **more: Any) -> None:
        self._collect(outputs)

    def on_test_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        self._log(pl_module, "test")

"""Training by approximate Bayesian inference, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _dubio
from ._arrays import as_numpy, interface, plain
from ._call import Bar, array_of, as_json, quiet, threads
from ._errors import PredictionError, SettingError


OWN = ("method", "network", "seed", "device", "precision", "progress")  # what is not a setting of the method


# Method, settings, network, seed, inputs, and the kind of the answers with the answers.
Trained = Tuple[str, str, str, int, npt.NDArray[Any], Tuple[str, npt.NDArray[Any]]]


def names_of(X: Any) -> Optional[List[str]]:
    """The names of the columns of a data frame."""
    columns = getattr(X, "columns", None)
    return None if columns is None or not all(isinstance(name, str) for name in columns) else list(columns)


class Estimator:
    """A network with a posterior over its weights, as a scikit-learn estimator.

    ``method`` is one of :data:`dubio.METHODS`; its settings are keywords, as on the command line. Floating-point
    targets make it a regression, anything else a classification. ``device`` is ``"cpu"``, ``"cuda"`` (an NVIDIA GPU)
    or ``"auto"`` (a GPU if there is one); ``precision`` says how a GPU multiplies: ``"f32"``, ``"tf32"`` or ``"bf16"``.
    ``progress=True`` shows how far training has come. A pickle holds the training data and the posterior; once it is
    loaded, ``set_params(device=...)`` moves it to another device.

    >>> import numpy as np, dubio
    >>> X, y = np.arange(40.0).reshape(-1, 1), np.arange(40) // 20
    >>> model = dubio.Estimator("sgd", network="mlp-5", epochs=3, batch=8).fit(X, y)
    >>> model.predict_proba(X).shape
    (40, 2)
    """

    _posterior: Optional[_dubio.Posterior] = None
    _numbers: Tuple[str, Optional[_dubio.Numbers]] = ("", None)

    def __init__(
        self,
        method: str = "deep-ensemble",
        network: str = "mlp",
        seed: int = 0,
        device: str = "cpu",
        precision: str = "f32",
        progress: bool = False,
        **settings: Any,
    ) -> None:
        self.method = method
        self.network = network
        self.seed = seed
        self.device = device
        self.precision = precision
        self.progress = progress
        self.settings = settings

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """Settings, as scikit-learn asks for them."""
        return {**{name: getattr(self, name) for name in OWN}, **self.settings}

    def set_params(self, **params: Any) -> "Estimator":
        """Changes settings."""
        for name, value in params.items():
            if name in OWN:
                setattr(self, name, value)
            else:
                self.settings[name] = value
        return self

    def fit(self, X: Any, y: Any) -> "Estimator":
        """Trains on rows of numbers, or images of uint8 ``[examples, channels, height, width]``."""
        inputs, answers = np.array(as_numpy("X", X)), plain(np.asarray(y))  # a copy: a pickle has what was trained on
        classes: Optional[npt.NDArray[Any]] = None
        if answers.dtype.kind == "f":
            truth = ("targets", answers.astype(np.float64))
        else:
            classes, labels = np.unique(answers, return_inverse=True)
            truth = ("labels", labels.astype(np.int64))
        trained = (self.method, as_json(self.settings), self.network, self.seed, inputs, truth)
        self._posterior = self._made(trained)
        self._trained, self.classes_ = trained, classes
        self.n_features_in_ = int(np.prod(inputs.shape[1:]))
        self.feature_names_in_ = names_of(X)
        return self

    def _made(self, trained: Trained, numbers: Optional[_dubio.Numbers] = None) -> _dubio.Posterior:
        """The posterior: trained, or made again from its numbers."""
        method, settings, network, seed, inputs, truth = trained
        engine, arrays = (self.device, self.precision), [interface("inputs", inputs), interface(*truth)]
        tell = Bar() if self.progress else quiet
        try:
            return _dubio.fit(method, settings, network, engine, arrays, seed, threads(), tell, numbers)
        finally:
            if isinstance(tell, Bar):
                tell.end()

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise SettingError("this estimator is not fitted yet; call fit(X, y) first")

    def _predicted(self, X: Any) -> npt.NDArray[np.float32]:
        """``[samples, examples, numbers]``: logits, or mean and standard deviation."""
        self._check_fitted()
        if self._posterior is None:  # it was pickled; another version trains again
            version, numbers = self._numbers
            self._posterior = self._made(self._trained, numbers if version == _dubio.__version__ else None)
        inputs, names = as_numpy("X", X), names_of(X)
        if None not in (names, self.feature_names_in_) and names != self.feature_names_in_:
            advice = "give X[estimator.feature_names_in_]"
            raise PredictionError(f"X: its columns are not those of training, or in another order\n  {advice}")
        kind, dtype = ("targets", np.float64) if self.classes_ is None else ("labels", np.int64)
        arrays = [interface("inputs", inputs), interface(kind, np.zeros(len(inputs), dtype=dtype))]
        _, predicted = self._posterior.predict(arrays, threads(), quiet)
        return array_of(*predicted)

    def predict_samples(self, X: Any) -> npt.NDArray[np.float32]:
        """What each posterior sample predicts: logits ``[samples, examples, classes]``, or the mean and the
        standard deviation ``[samples, examples, 2]`` of a regression."""
        return self._predicted(X)

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Mean of the samples' probabilities, ``[examples, classes]``."""
        self._check_fitted()
        if self.classes_ is None:
            raise SettingError("predict_proba is for classification; use predict(X, return_std=True)")
        logits = self._predicted(X).astype(np.float64)
        logits -= logits.max(axis=-1, keepdims=True)
        probs = np.exp(logits)
        probs /= probs.sum(axis=-1, keepdims=True)
        mean: npt.NDArray[np.float64] = probs.mean(axis=0)
        return mean

    def predict(
        self, X: Any, return_std: bool = False
    ) -> Union[npt.NDArray[Any], Tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        """The likeliest class, or the predictive mean; with ``return_std`` also the predictive standard
        deviation of a regression, ``std^2 = mean of std_m^2 + variance of mean_m``."""
        self._check_fitted()
        if self.classes_ is not None:
            if return_std:
                raise SettingError("return_std is for regression; use predict_proba(X)")
            labels: npt.NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
            return labels
        numbers = self._predicted(X).astype(np.float64)
        means, stds = numbers[..., 0], numbers[..., 1]
        mean = means.mean(axis=0)
        if not return_std:
            return mean  # type: ignore[no-any-return]
        return mean, np.sqrt((stds**2).mean(axis=0) + means.var(axis=0))

    def score(self, X: Any, y: Any) -> float:
        """Accuracy, or the coefficient of determination of a regression."""
        predicted, truth = np.asarray(self.predict(X)), np.asarray(y)
        if self.classes_ is not None:
            return float((predicted == truth).mean())
        return float(1 - ((truth - predicted) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())

    def __getstate__(self) -> Dict[str, Any]:
        state = dict(self.__dict__)
        posterior = state.pop("_posterior", None)
        if posterior is not None:
            state["_numbers"] = (_dubio.__version__, posterior.numbers())
        return state

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_trained")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            regressor_tags=RegressorTags(),
            input_tags=InputTags(),
        )

    def __repr__(self) -> str:
        engine = {"device": (self.device, "cpu"), "precision": (self.precision, "f32")}
        changed = {name: value for name, (value, default) in engine.items() if value != default}
        settings = "".join(f", {name}={value!r}" for name, value in {**changed, **self.settings}.items())
        return f"Estimator({self.method!r}, network={self.network!r}, seed={self.seed}{settings})"


def fit(
    method: str,
    X: Any,
    y: Any,
    *,
    network: str = "mlp",
    seed: int = 0,
    device: str = "cpu",
    precision: str = "f32",
    progress: bool = True,
    **settings: Any,
) -> Estimator:
    """Trains a network by approximate Bayesian inference: ``dubio.fit("swag", X, y).predict(X_test)``.

    Returns an :class:`Estimator`, which says what ``device`` and ``precision`` are. ``progress`` shows how far training
    has come, on standard error.
    """
    engine: Dict[str, Any] = {"device": device, "precision": precision, "progress": progress}
    return Estimator(method, network=network, seed=seed, **engine, **settings).fit(X, y)

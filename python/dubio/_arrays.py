"""Arrays of any framework as the extension reads them: where they lie, contiguous or not."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional

import numpy as np
import numpy.typing as npt

from ._errors import PredictionError


def as_numpy(name: str, values: Any) -> npt.NDArray[Any]:
    """NumPy, PyTorch (CPU or GPU), JAX, anything with ``__array__`` or DLPack, nested lists."""
    detach = getattr(values, "detach", None)
    if callable(detach):  # a tensor of PyTorch
        values = detach().cpu()
        if str(values.dtype) == "torch.bfloat16":
            values = values.float()
    if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
        values = np.from_dlpack(values)
    masked = int(values.size - values.count()) if isinstance(values, np.ma.MaskedArray) else 0
    if masked:  # as an array it would be what is under the mask
        raise PredictionError(f"array `{name}`: {masked} values are masked\n  drop their examples, or fill them in with .filled(...)")
    if hasattr(values, "toarray"):
        raise PredictionError(f"array `{name}`: sparse; give {name}.toarray()")
    array = plain(np.asarray(values))
    if array.dtype == object or array.dtype.kind in "USOMm":
        advice = f"; np.unique({name}, return_inverse=True)[1] numbers text" if array.ndim == 1 else ""
        if name == "X" and array.ndim == 2:
            advice = "; pandas.get_dummies(X) encodes columns of text"
        raise PredictionError(f"array `{name}`: dtype {array.dtype}; give numbers{advice}")
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    if array.dtype.name == "bfloat16":  # of JAX, a dtype that NumPy does not know
        array = array.astype(np.float32)
    return array


def plain(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Objects that are all numbers, as the columns of pandas often are, as numbers; other arrays as they are."""
    is_number = lambda value: isinstance(value, (bool, int, float, np.number, np.bool_))
    if array.dtype == object and array.size and all(map(is_number, array.flat)):
        return np.array(array.tolist())
    return array


def interface(name: str, values: Any) -> "ArrayIn":
    """What the extension needs to read an array where it lies. Only a field of a structured array may be copied."""
    array = as_numpy(name, values)
    if any(stride % array.itemsize for stride in array.strides):
        array = np.ascontiguousarray(array)
    return ArrayIn(name, array)


class ArrayIn:
    """An array by its address; it keeps the array alive."""

    def __init__(self, name: str, array: npt.NDArray[Any]) -> None:
        self.name = name
        self.address: int = array.__array_interface__["data"][0]
        self.length = array.nbytes
        self.strides: Optional[List[int]] = None
        if not (array.flags.c_contiguous or array.flags.f_contiguous):
            reach = [(size - 1) * stride for size, stride in zip(array.shape, array.strides)]
            before, behind = sum(min(r, 0) for r in reach), sum(max(r, 0) for r in reach)
            self.address += before
            self.length = behind - before + array.itemsize
            self.strides = [stride // array.itemsize for stride in array.strides]
        self.dtype: str = array.dtype.str
        self.shape: List[int] = list(array.shape)
        self.fortran = bool(array.flags.f_contiguous and not array.flags.c_contiguous)
        self.owner = array


def given(arrays: Mapping[str, Any]) -> List[ArrayIn]:
    """Those arrays that were given."""
    return [interface(name, values) for name, values in arrays.items() if values is not None]


def with_groups(arrays: Dict[str, Any], groups: Optional[Any]) -> Optional[str]:
    """Adds groups, one array or several by name; returns the name of the ones to score by."""
    if groups is None:
        return None
    if not isinstance(groups, Mapping):
        arrays["groups"] = groups
        return ""
    for name, values in groups.items():
        arrays[f"groups.{name}"] = values
    if len(groups) != 1:
        raise PredictionError("groups: give one array, or one array by name")
    return str(next(iter(groups)))

"""What can go wrong, in the words of the command line."""

import re

__all__ = ["Error", "PredictionError", "DataError", "SuiteError", "SettingError", "FileError"]


class Error(Exception):
    """Any error of dubio."""

    def __init__(self, message: str = "") -> None:
        # Arrays stand in for files, and have no name that means something.
        super().__init__(re.sub(r"<arrays \d+>(, |: )", "", message))


class PredictionError(Error, ValueError):
    """Predictions that cannot be used: which array, the first bad place, what to do."""


class DataError(Error, ValueError):
    """A data set that is missing, damaged or malformed."""


class SuiteError(Error, ValueError):
    """Mistakes in a suite, each with line and column."""


class SettingError(Error, ValueError):
    """A setting that does not exist, or settings that do not go together."""


class FileError(Error, OSError):
    """A file or folder that cannot be read or written."""

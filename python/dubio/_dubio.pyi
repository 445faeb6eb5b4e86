from typing import Any, Callable, List, Optional, Tuple

__version__: str

Numbers = Tuple[List[List[bytes]], List[List[bytes]]]

class Posterior:
    @property
    def samples(self) -> int: ...
    def predict(
        self, given: List[Any], threads: int, tell: Callable[[str, int, int, List[str]], None]
    ) -> Tuple[str, Tuple[bytes, List[int]]]: ...
    def numbers(self) -> Numbers: ...
    def weights(self) -> List[bytes]: ...

def call(
    command: str,
    settings: str,
    files: List[List[Any]],
    threads: int,
    tell: Callable[[str, int, int, List[str]], None],
) -> Tuple[str, Optional[Tuple[bytes, List[int]]]]: ...
def cards() -> str: ...
def fit(
    method: str,
    settings: str,
    network: str,
    engine: Tuple[str, str],
    given: List[Any],
    seed: int,
    threads: int,
    tell: Callable[[str, int, int, List[str]], None],
    numbers: Optional[Numbers] = None,
) -> Posterior: ...

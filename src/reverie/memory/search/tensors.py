"""The numbers of a model, used where they lie in their files: they load in no time, and processes share them.

Owns how a safetensors file is read, and a copy beside it that holds the matrices of the layers turned, columns as rows:
for the few rows of a query a product with those takes a fifth less. The copy is derived and may be deleted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from reverie.errors import Error
from reverie.files import write_atomic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]


def read_tensors(path: Path) -> dict[str, Matrix]:
    """Every tensor of a file, as views of it: the length of a header, the header as JSON, the numbers."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    start = 8 + int(data[:8].view("<u8")[0])
    header = json.loads(bytes(data[8:start]))
    found = {}
    for name, said in header.items():
        if said.get("dtype") == "F32":
            first, last = said["data_offsets"]
            found[name] = np.asarray(data[start + first : start + last]).view("<f4").reshape(said["shape"])
    return found


def read_turned(path: Path, tensors: Mapping[str, Matrix]) -> dict[str, Matrix]:
    """The matrices of the layers of this file, turned; written beside it at their first use."""
    matrices = {name: each for name, each in tensors.items() if name.startswith("encoder.") and each.ndim == 2}
    numbers = _read_copy(path.with_suffix(".turned"), matrices)
    found = {}
    start = 0
    for name, matrix in matrices.items():
        found[name] = numbers[start : start + matrix.size].reshape(matrix.shape[::-1])
        start += matrix.size
    return found


def _read_copy(path: Path, matrices: Mapping[str, Matrix]) -> Matrix:
    if not path.is_file() or path.stat().st_size != sum(each.nbytes for each in matrices.values()):
        turned = b"".join(each.T.tobytes() for each in matrices.values())
        try:
            write_atomic(path, turned)
        except (Error, OSError):
            # A folder that may only be read: this process keeps its own.
            return np.frombuffer(turned, dtype="<f4")
    return np.asarray(np.memmap(path, dtype="<f4", mode="r"))

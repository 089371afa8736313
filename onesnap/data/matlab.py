"""MATLAB's `.mat` files of version 5, read by SciPy; those of version 7.3 are HDF5.

Arrays are read whole. Complex ones, as of a wave function, become two channels.
"""

from __future__ import annotations

import numpy as np

from .dataset import Dataset
from .errors import DataError, reading
from .named import Header, choose, open_named
from .sizes import check_stored

CLASSES = {"double": "f8", "single": "f4", "logical": "u1"}
CLASSES |= {f"int{bits}": f"i{bits // 8}" for bits in (8, 16, 32, 64)}
CLASSES |= {f"uint{bits}": f"u{bits // 8}" for bits in (8, 16, 32, 64)}


def open_matlab(path, field=None, dims=None, inputs=None) -> Dataset:
    """Arrays of states, with `t`, `x`, `dt` and so on beside them; their axes as MATLAB has them."""
    import scipy.io

    with reading(path):
        listed = scipy.io.whosmat(str(path))
        headers = {
            name: Header(tuple(shape), True, np.dtype(CLASSES[kind]))
            for name, shape, kind in listed
            if kind in CLASSES
        }
        stored = path.stat().st_size
        for name, header in headers.items():
            count = int(np.prod(header.shape, dtype=object))
            check_stored(path, name, count, header.size, stored)
        if not headers:
            kinds = ", ".join(f"{name} ({kind})" for name, _, kind in listed) or "nothing"
            raise DataError(f"{path}: expected an array of numbers, it holds: {kinds}")
        chosen = choose(path, headers, field, inputs)
        arrays = {}
        for name, array in scipy.io.loadmat(str(path), variable_names=list(headers)).items():
            if name in headers and np.iscomplexobj(array):
                arrays |= {f"{name}_real": array.real, f"{name}_imag": array.imag}
            elif name in headers:
                arrays[name] = array
    parts = [part for name in chosen for part in (name, f"{name}_real", f"{name}_imag")]
    headers = {name: Header(array.shape, True, array.dtype) for name, array in arrays.items()}
    chosen = [part for part in parts if part in arrays]
    return open_named(path, "MATLAB 5", headers, arrays.__getitem__, chosen, dims, inputs)

"""Released values as text, from which a journal restores them exactly."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

from holdfast.errors import FormatError


def encode_payload(value: Any) -> str:
    """JSON for numbers, and base64 for arrays.

    >>> decode_payload(encode_payload(np.array([1.5, 2.0]))).tolist()
    [1.5, 2.0]
    """
    if isinstance(value, np.ndarray):
        data = np.ascontiguousarray(value)
        body = {
            "dtype": data.dtype.str,
            "shape": list(value.shape),
            "data": base64.b64encode(data.tobytes()).decode(),
        }
        return json.dumps({"array": body})
    return json.dumps({"value": value.item() if isinstance(value, np.generic) else value})


def decode_payload(text: str) -> Any:
    """The value that `encode_payload` wrote."""
    try:
        data = json.loads(text)
        if "array" not in data:
            return data["value"]
        body = data["array"]
        dtype = np.dtype(body["dtype"])
        if dtype.hasobject:
            raise FormatError("a stored value may hold numbers only")
        flat = np.frombuffer(base64.b64decode(body["data"]), dtype=dtype)
        return flat.reshape(body["shape"]).copy()
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError("a stored value cannot be read back") from error

"""What pyproject.toml cannot say: a compiled kernel for every CPython from 3.11 on, or none and a wheel that says so.

HOLDFAST_PURE=1 leaves the kernel out: the wheel is named py3-none-any, and `holdfast.kernel.implementation` says
"numpy" wherever it is installed.
"""

import os

from setuptools import setup

if os.environ.get("HOLDFAST_PURE") == "1":
    setup()
else:
    setup(
        cffi_modules=["src/holdfast/kernel/build.py:ffibuilder"],
        options={"bdist_wheel": {"py_limited_api": "cp311"}},
    )

"""The one thing pyproject.toml cannot say: a compiled kernel, for every CPython from 3.11 on."""

from setuptools import setup

setup(
    cffi_modules=["src/holdfast/kernel/build.py:ffibuilder"],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)

"""Spark's Python daemon with its workers' imports done: they are forked from it, so an import is paid once."""

from __future__ import annotations

import warnings
from importlib import import_module

NEEDED = (
    "pandas",  # pyspark imports it in every worker
    "holdfast.data._encode",
    "holdfast.data._engines.spark.worker",
    "holdfast.learn.methods.bolt_on",
    "tests.servers.spark_kernels",
)

if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in NEEDED:
            import_module(name)
    import_module("pyspark.daemon").manager()

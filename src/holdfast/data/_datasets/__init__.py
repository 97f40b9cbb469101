"""Adult: a real, public table that ships with holdfast, with a schema declared from its codebook."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import Literal

from holdfast._arguments import checked
from holdfast.data._engines import open_table
from holdfast.data._engines.files import read_table
from holdfast.data._schema import Schema
from holdfast.data._table import Table
from holdfast.errors import require

_HERE = files("holdfast.data._datasets")


@checked
def adult_schema() -> Schema:
    """The declared schema of the Adult census income data.

    Returns
    -------
    Schema
        Fifteen columns with the bounds and categories of their documentation.

    Examples
    --------
    >>> adult_schema().cells("sex", "race", "income")
    20
    """
    with as_file(_HERE / "adult.toml") as path:
        return Schema.load(path)


@checked
def adult(part: Literal["train", "test"] = "train") -> Table:
    """The Adult census income data (UCI, CC BY 4.0): 32,561 rows to train on or 16,281 to test on.

    Parameters
    ----------
    part : {'train', 'test'}
        Which of the two published parts.

    Returns
    -------
    Table
        The rows behind `adult_schema`.

    Examples
    --------
    >>> adult("test").count()
    16281
    """
    require(part in ("train", "test"), "part", part, "'train' or 'test'")
    with as_file(_HERE / f"adult_{part}.parquet") as path:
        return open_table(read_table(path), adult_schema())

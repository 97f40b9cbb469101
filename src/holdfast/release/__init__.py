"""Releases: a value with its promise and its history, and the file format that keeps all three.

Contents
--------
Make a release
    `Release.of` and `Release.paid_by`, of what an account released. Estimators do it in `fit`.
Say how it came about
    `Provenance`: method, parameters, schema, noise, software, date and payment.
Store it
    `Release.save` and `Release.load`: one file of JSON and arrays, without code. `Release.sha256` stands for it.

Public and private
------------------
A release is public as a whole: value, guarantee, provenance, certificates and file. What is put into it must
follow from what an account released and from public knowledge; nothing checks that afterwards. One that was drawn
from a seed is not private, and says so wherever it is shown.
"""

from __future__ import annotations

from holdfast.release._release import Provenance, Release

__all__ = ["Provenance", "Release"]

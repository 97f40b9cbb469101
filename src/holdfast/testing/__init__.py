"""The contracts that every mechanism, method, attack, engine and column kind keeps; check your own by them.

Contents
--------
One call, an error for what does not hold
    `check_mechanism`, `check_method`, `check_synthesizer`, `check_column`, `check_engine`, and one for each
    kind of attack.
One statement at a time, for a test runner
    `mechanism_checks`, `method_checks`, `column_checks`, `engine_checks`, and so on: iterators of `Check`.
Single trials of a method
    `check_replay`, `check_freshness`, `check_sampling`.

Public and private
------------------
Everything runs on made-up tables, so that all of it is public.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

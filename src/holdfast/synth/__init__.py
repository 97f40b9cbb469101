"""Private synthetic tables: declared queries in, rows, noisy tables and a certificate out.

Contents
--------
Synthesise
    `Synthesizer` chooses a method, draws rows and certifies them; `SynthesisEstimate` forecasts its cost and
    noise; `CertificateRequest` says what is to be claimed, `Certification` what was.
Say what the rows are for
    `Workload`, a list of weighted groups of queries: `Marginal`, `Thresholds`, `Ranges`, `Conjunctions`,
    `Predicates`, `OneLayer`. `Zeros` declares combinations of values that cannot be.
Use what was released
    `Synthesizer.sample`, `Synthesizer.answer` (`Answers`, with intervals), `Synthesizer.load`.
Judge it with the private rows at hand
    `Synthesizer.evaluate`, `evaluate` (`Evaluation`).
Add a method
    `SYNTHESISERS` lists those there are. A `SynthesisMethod` gets `ExactCounts` and an account, and releases a
    model with the `Measurement` that it rests on.

Public and private
------------------
Public are schema, workload, `Zeros`, all parameters, a `SynthesisEstimate` of a schema, and what was released:
rows, answers, noisy tables, model and certificate. Private are the rows that are fitted and `ExactCounts`.
An `Evaluation`, and whatever `Synthesizer.evaluate` says against real rows, is exact: it is for whoever holds
the table.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

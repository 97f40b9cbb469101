"""What is to be learned: loss, penalty, radius and labels."""

from __future__ import annotations

from holdfast.learn._problem.problem import Problem as Problem

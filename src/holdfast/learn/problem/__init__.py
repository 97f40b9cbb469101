"""What is to be learned: loss, penalty, radius and labels."""

from __future__ import annotations

from holdfast.learn.problem.problem import Problem as Problem

"""Accounts: budgets that charge first and draw noise after."""

from __future__ import annotations

from holdfast.privacy._account.account import Account as Account
from holdfast.privacy._account.account import Permit as Permit
from holdfast.privacy._account.witness import Draw as Draw
from holdfast.privacy._account.witness import Witness as Witness
from holdfast.privacy._account.witness import WitnessedRun as WitnessedRun
from holdfast.privacy._account.witness import replay_tape as replay_tape

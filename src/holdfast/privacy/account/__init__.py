"""Accounts: budgets that charge first and draw noise after."""

from __future__ import annotations

from holdfast.privacy.account.account import Account as Account
from holdfast.privacy.account.account import Permit as Permit
from holdfast.privacy.account.witness import Draw as Draw
from holdfast.privacy.account.witness import Transcript as Transcript
from holdfast.privacy.account.witness import Witness as Witness
from holdfast.privacy.account.witness import replaying as replaying

"""Accounts: budgets that charge first and draw noise after."""

from __future__ import annotations

from holdfast.privacy.account.account import Account as Account
from holdfast.privacy.account.account import Permit as Permit

"""The ledger page: what papers claim, what was measured, and where to look."""

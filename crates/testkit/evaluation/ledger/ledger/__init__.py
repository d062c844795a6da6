"""A household ledger."""

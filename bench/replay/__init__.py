"""Every recording under every strategy and window: cost, cache, refusals, breaks, receipts."""

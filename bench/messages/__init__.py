"""Reading transcripts: one of 100 MB, and a thousand at a glance, beside the vendor's own reader."""

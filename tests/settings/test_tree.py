from __future__ import annotations

import pytest

from reverie.settings import Settings, SpillSettings
from reverie.settings.layers import value_of
from tests.requirements import requirement

SPECIFIED: dict[str, dict[str, object]] = {
    # the window and the cache
    "default_window": {"window.default_tokens": 200_000},
    "extended_window": {"window.extended_tokens": 1_000_000},
    "max_output_reserve": {"window.output_reserve_tokens": 20_000},
    "auto_compact_buffer": {"compaction.auto_buffer_tokens": 13_000},
    "warning_buffer": {"window.warning_fraction": 0.80},
    "error_buffer": {"window.error_fraction": 0.90},
    "manual_compact_buffer": {"window.blocking_buffer_tokens": 3_000},
    "collapse_stage_ratio": {"collapse.stage_fraction": 0.90},
    "collapse_run_ratio": {"collapse.run_fraction": 0.95},
    "cache_ttl": {"cache.system_ttl": "1h"},
    # spilling, snipping and clearing
    "spill_threshold": {
        "spill.result_chars": 50_000,
        "spill.search_result_chars": 20_000,
        "spill.round_chars": 200_000,
        "spill.never": ("Read",),
    },
    "spill_preview": {"spill.preview_bytes": 2_000},
    "snip_trigger": {"snip.trigger_fraction": 0.85},
    "snip_target": {"snip.target_fraction": 0.70},
    "time_micro_enabled": {"clearing.time.enabled": True, "clearing.time.min_fill_fraction": 0.50},
    "time_micro_gap": {"clearing.time.gap_minutes": None},
    "time_micro_keep": {"clearing.time.keep_results": 5},
    "time_micro_keep_floor": {"clearing.time.keep_floor": 1},
    "cached_micro_trigger": {"clearing.cached.trigger_results": 20},
    "cached_micro_keep": {"clearing.cached.keep_results": 8},
    "api_clear_trigger": {"clearing.api.trigger_tokens": 180_000},
    "api_clear_at_least": {"clearing.api.clear_at_least_tokens": 140_000},
    "api_keep_thinking": {"clearing.api.keep_thinking_turns": 1, "clearing.api.keep_all_thinking": False},
    # notes
    "notes_init_tokens": {"notes.init_tokens": 10_000},
    "notes_growth_tokens": {"notes.growth_tokens": 5_000},
    "notes_tool_calls": {"notes.tool_calls": 3},
    "notes_section_tokens": {"notes.section_tokens": 2_000},
    "notes_total_tokens": {"notes.total_tokens": 12_000},
    "notes_compact_section_chars": {"notes.compact_section_chars": 8_000},
    "keep_min_tokens": {"compaction.keep_min_tokens": 10_000},
    "keep_min_text_messages": {"compaction.keep_min_text_messages": 5},
    "keep_max_tokens": {"compaction.keep_max_tokens": 40_000},
    # compaction
    "summary_max_tokens": {"compaction.summary_max_tokens": 20_000},
    "restore_files": {"compaction.restore_files": 5},
    "restore_file_tokens": {"compaction.restore_file_tokens": 5_000},
    "restore_files_total": {"compaction.restore_files_total_tokens": 50_000},
    "restore_skill_tokens": {"compaction.restore_skill_tokens": 5_000},
    "restore_skills_total": {"compaction.restore_skills_total_tokens": 25_000},
    "too_long_retries": {"compaction.too_long_retries": 3},
    "too_long_drop_ratio": {"compaction.too_long_drop_fraction": 0.20},
    "compact_max_failures": {"compaction.max_failures": 3},
    "reactive_attempts": {"compaction.reactive_attempts": 1},
    # the index and recall
    "index_max_lines": {"index.max_lines": 200},
    "index_max_bytes": {"index.max_bytes": 25_000},
    "recall_max_files": {"recall.max_files": 5},
    "recall_selector_tokens": {"recall.selector_tokens": 256},
    "recall_file_lines": {"recall.file_lines": 200},
    "recall_file_bytes": {"recall.file_bytes": 4_096},
    "recall_turn_bytes": {"recall.turn_bytes": 3_000},
    "recall_session_bytes": {"recall.session_bytes": 60_000},
    "recall_min_words": {"recall.min_words": 2},
    "recall_timeout": {"recall.timeout_seconds": 2.5},
    "fresh_max_days": {"age.fresh_max_days": 1},
    # extraction and dreams
    "extraction_max_rounds": {"extraction.max_rounds": 5},
    "extraction_every_n_turns": {"extraction.every_n_turns": 1},
    "extraction_drain": {"extraction.drain_seconds": 60},
    "dream_min_hours": {"dream.min_hours": 24},
    "dream_min_sessions": {"dream.min_sessions": 5},
    "dream_scan_interval": {"dream.scan_interval_minutes": 10},
    "dream_lock_stale": {"dream.lock_stale_minutes": 60},
    "dream_view_rounds": {"dream.view_messages": 30},
    "dream_grep_tail": {"dream.search_hits": 50},
    "dream_max_rounds": {"dream.max_rounds": 30},
    # tools, hooks, instructions, agents, the model
    "tool_concurrency": {"tools.concurrency": 10},
    "hook_timeout": {"hook.timeout_seconds": 600},
    "instruction_file_chars": {"instructions.file_chars": 40_000},
    "agent_summary_interval": {"agent.summary_interval_seconds": 30},
    "agent_summary_words": {"agent.summary_words_min": 3, "agent.summary_words_max": 5},
    "max_tokens": {"model.max_output_tokens": 16_384},
}
"""Numbers by the name of what they limit, and the settings that hold them with their defaults."""

CHOSEN: dict[str, object] = {
    "collapse.min_span_fraction": 0.05,
    "collapse.summary_tokens": 1_000,
    "notes.max_rounds": 3,
    "cache.break_fraction": 0.05,
    "cache.break_tokens": 2_000,
    "recall.rerank_candidates": 50,
    "recall.show_again_tokens": 50_000,
    "extraction.max_retries": 2,
    "instructions.include_depth": 4,
    "compaction.user_text_fraction": 0.25,
    "compaction.receipt_fraction": 0.01,
    "budget.background_fraction": 0.10,
    "budget.background_usd_per_hour": 0.50,
}
"""Numbers of our own besides, by setting."""

SWITCHES: dict[str, object] = {
    "notes.enabled": True,
    "compaction.from_notes": True,
    "compaction.auto": True,
    "compaction.reactive": True,
    "compaction.reactive_only": False,
    "extraction.enabled": True,
    "extraction.noninteractive": False,
    "recall.enabled": True,
    "memory.enabled": True,
    "memory.skip_index": True,
    "memory.search_past_context": True,
    "memory.daily_log": False,
    "dream.enabled": True,
    "clearing.time.enabled": True,
    "clearing.cached.enabled": False,
    "clearing.api.enabled": False,
    "snip.enabled": False,
    "collapse.enabled": False,
    "spill.tool_chars": (),
    "agent.list_attachment": True,
    "simple_mode": False,
    "remote.mode": False,
}


def default(key: str) -> object:
    return value_of(Settings(), tuple(key.split(".")))


@requirement("settings:defaults:numbers")
@pytest.mark.parametrize(
    ("key", "value"), [*(pair for names in SPECIFIED.values() for pair in names.items()), *CHOSEN.items()]
)
def test_every_number_is_a_setting_with_its_stated_default(key: str, value: object) -> None:
    assert default(key) == value


@requirement("settings:defaults:switches")
@pytest.mark.parametrize(("key", "value"), SWITCHES.items())
def test_every_switch_has_its_stated_default(key: str, value: object) -> None:
    assert default(key) == value


@requirement("settings:defaults:numbers")
def test_a_tool_has_its_own_limit_before_the_general_ones() -> None:
    spill = SpillSettings(tool_chars=(("Bash", 30_000), ("Read", 10)))
    assert [spill.limit_chars(tool) for tool in ("Bash", "Read", "Grep", "Fetch")] == [30_000, 10, 20_000, 50_000]
    assert SpillSettings().limit_chars("Read") is None

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.extensions.hooks.verdict import NOTHING, HookVerdict, Permission, merge_verdicts
from tests.requirements import requirement

verdicts = st.builds(
    HookVerdict,
    blocked=st.none() | st.text(max_size=3),
    permission=st.sampled_from([None, "allow", "ask", "deny"]),
    reason=st.text(max_size=3),
    updated_input=st.none() | st.just({"a": 1}) | st.just({"b": 2}),
    context=st.lists(st.text(min_size=1, max_size=3), max_size=2).map(tuple),
    stop=st.none() | st.text(max_size=3),
    messages=st.lists(st.text(min_size=1, max_size=3), max_size=2).map(tuple),
)

RANK: dict[Permission | None, int] = {None: 0, "allow": 1, "ask": 2, "deny": 3}


@requirement("hooks:merge:strictest")
@given(st.lists(verdicts, max_size=5))
def test_the_strictest_word_stands_and_no_objection_is_lost(all_said: list[HookVerdict]) -> None:
    together = merge_verdicts(all_said)

    assert RANK[together.permission] == max((RANK[said.permission] for said in all_said), default=0)
    assert (together.blocked is None) == all(said.blocked is None for said in all_said)
    assert (together.stop is None) == all(said.stop is None for said in all_said)
    assert set(together.context) == {text for said in all_said for text in said.context}
    assert set(together.messages) == {text for said in all_said for text in said.messages}


@requirement("hooks:merge:strictest")
def test_a_later_input_replaces_an_earlier_one_and_none_outlives_a_refusal() -> None:
    one, two = HookVerdict(updated_input={"a": 1}), HookVerdict(updated_input={"b": 2}, permission="allow", reason="r")

    assert merge_verdicts([one, two]).updated_input == {"b": 2}
    assert merge_verdicts([one, two, HookVerdict(permission="deny", reason="no")]).updated_input is None
    assert merge_verdicts([one, two, HookVerdict(permission="deny", reason="no")]).reason == "no"
    assert merge_verdicts([]) == NOTHING

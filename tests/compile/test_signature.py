"""Signatures: what goes to the cache comes back, and nothing else is taken."""

from __future__ import annotations

import json

import pytest

from linkwork.compile.signature import Signature, size
from traced_functions import mixed, traced


def test_goes_through_json_unchanged():
    signature = traced("mixed", {"x": 3, "y": 2}, mixed).signature
    assert Signature.from_facts(json.loads(json.dumps(signature.to_facts()))) == signature
    assert signature.input_sizes == (3, 2)
    assert signature.output_sizes == (6,)
    assert signature.instructions > 10


@pytest.mark.parametrize("missing", ["name", "input_shapes", "instructions"])
def test_facts_that_are_not_whole_are_no_signature(missing):
    facts = traced("mixed", {"x": 3, "y": 2}, mixed).signature.to_facts()
    del facts[missing]
    with pytest.raises(KeyError):
        Signature.from_facts(facts)


def test_sizes():
    assert [size(()), size((4, 4)), size((0, 3))] == [1, 16, 0]

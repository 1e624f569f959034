"""Recipes: traced once, when it has to be; keys tell functions apart."""

from __future__ import annotations

import json

import pytest

from linkwork.compile.kernel import build
from linkwork.compile.recipe import (
    Recipe,
    Signature,
    algorithm_recipe,
    expression_recipe,
    recipe_of,
    size,
)
from robots import every_joint_urdf, mechanism_from
from traced_functions import mixed, traced


def test_tracing_happens_once_and_late():
    calls = []

    def trace():
        calls.append(1)
        return traced("mixed", {"x": 3, "y": 2}, mixed)

    recipe = Recipe(("a", "b"), trace)
    assert not calls
    assert recipe.traced() is recipe.traced()
    assert recipe.graph(fused=True).nodes
    assert len(calls) == 1
    t = recipe.traced()
    assert recipe_of(t).traced() is t
    assert recipe_of(t).key == ()


def test_keys_tell_algorithms_mechanisms_arguments_and_parameters_apart():
    m = mechanism_from(every_joint_urdf())
    other = mechanism_from(every_joint_urdf(), base="floating")
    first, last = m.frame_names[0], m.frame_names[-1]
    recipes = [
        algorithm_recipe("fk", m, frame=last),
        algorithm_recipe("fk", m, frame=first),
        algorithm_recipe("fk", other, frame=last),
        algorithm_recipe("jacobian", m, frame=last),
        algorithm_recipe("jacobian", m, frame=last, reference="local"),
        algorithm_recipe("fk", m, (f"xyz:{last}",), frame=last),
        algorithm_recipe("fk", m, (f"rpy:{last}",), frame=last),
        algorithm_recipe("com", m),
    ]
    assert len({recipe.key for recipe in recipes}) == len(recipes)
    again = algorithm_recipe("jacobian", m, reference="local", frame=last)
    assert again.key == recipes[4].key
    assert again.about == {"robot": m.name, "frame": last, "reference": "local"}
    assert recipes[0].traced().signature.name == "fk"


def test_a_text_in_operations_is_traced():
    def text(o, x, y):
        assert o.name == "graph"
        return {"sum": x + 2.0 * y}

    recipe = expression_recipe(("text",), "sum", {"x": 2, "y": 2}, text)
    assert recipe.key == ("text",)
    found = build(recipe)([1.0, 2.0], [10.0, 20.0])
    assert found.tolist() == [21.0, 42.0]


# --- Signatures: what goes to the cache comes back, and nothing else is taken ---


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

"""The order of minimum degree: what is joined to least goes first."""

from __future__ import annotations

from linkwork.algorithms.elimination_order import minimum_degree


def test_the_middle_of_a_star_comes_late():
    star = [{1, 2, 3, 4}, {0}, {0}, {0}, {0}]
    order, cost = minimum_degree(star)
    assert order[:3] == (1, 2, 3) and sorted(order) == list(range(5))
    assert cost == 4 * 4 + 1
    assert star[0] == {1, 2, 3, 4}  # what is given stays


def test_neighbours_of_what_goes_are_joined():
    order, cost = minimum_degree([{1, 3}, {0, 2}, {1, 3}, {2, 0}])
    assert order == (0, 1, 2, 3) and cost == 9 + 9 + 4 + 1
    assert minimum_degree([]) == ((), 0)


def test_some_of_them():
    path = [{1}, {0, 2}, {1, 3}, {2}]
    assert minimum_degree(path, among=(1, 2)) == ((1, 2), 18)

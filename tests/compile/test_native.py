"""Built-in functions of compiled code: names, pickles, and their end in a cycle."""

from __future__ import annotations

import gc
import pickle
import weakref

import numpy as np
import pytest

from linkwork.compile.native import Held
from linkwork.compile.numpy_abi import array_abi
from native_rows import Bound

pytestmark = pytest.mark.skipif(
    array_abi() is None, reason="this Python does not lay out arrays as the fast call needs"
)


def test_it_has_a_name_and_holds_its_general_path():
    made = Bound()
    assert made.fast.__name__ == "mixed"
    assert isinstance(made.fast.__self__, Held)
    assert made.fast.__self__[0] is made.owner


def test_it_is_not_pickled():
    with pytest.raises(TypeError, match="pickle the robot"):
        pickle.dumps(Bound().fast)


def test_two_functions_of_one_code_are_apart():
    made = Bound()
    assert made.fast == made.fast
    assert made.fast != Bound().fast


@pytest.mark.sweep(1)
@pytest.mark.parametrize("late", [False, True])
def test_a_cycle_that_holds_it_is_collected(late):
    class Application:
        pass

    for _ in range(20):
        application = Application()
        if late:
            made = Bound()
            application = Application()
        else:
            made = Bound()
        application.fast, application.me = made.fast, application
        made.owner.application = application
        watch = weakref.ref(made.owner)
        application.fast(np.ones(3), np.ones(2))
        del made, application
        gc.collect()
        assert watch() is None

"""The records are plain values."""

from __future__ import annotations

import pickle

import pytest

from linkwork.formats.mjcf.records import MjcfModel, Place, Site


def test_records_compare_hash_and_pickle():
    site = Site(name="s", body=0, pos=(0.0, 0.0, 1.0), quat=(1.0, 0.0, 0.0, 0.0))
    model = MjcfModel(name="m", file=None, bodies=(), joints=(), sites=(site,), geoms=())
    assert pickle.loads(pickle.dumps(model)) == model
    assert len({model, pickle.loads(pickle.dumps(model))}) == 1
    assert site.place == Place()


def test_records_do_not_change():
    with pytest.raises(AttributeError):
        Place("a", 1).line = 2

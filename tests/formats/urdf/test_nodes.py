"""Elements of a text as nodes: where they stand, and what is refused."""

from __future__ import annotations

import pytest

from linkwork.formats.urdf.nodes import NoMouldError, parsed

TEXT = """<a b="1">
  <!-- c -->t
  <d e="2"/><f:g h:i="3">u<j></j
  ></f:g></a>"""


def test_names_lines_and_bytes():
    node = parsed(TEXT)
    assert (node.tag, node.line, node.attributes) == ("a", 0, {"b": "1"})
    assert TEXT[node.start : node.stop] == TEXT
    comment, d, g = node.children
    assert (comment.tag, comment.line, comment.texts) == ("", 1, [" c "])
    assert (d.tag, d.line, TEXT[d.start : d.stop]) == ("d", 2, '<d e="2"/>')
    assert g.tag.partition("\n")[2] == "g"
    assert [name.partition("\n")[2] for name in g.attributes] == ["i"]
    assert TEXT[g.start : g.stop] == '<f:g h:i="3">u<j></j\n  ></f:g>'
    (j,) = g.children
    assert TEXT[j.start : j.stop] == "<j></j\n  >"
    assert "".join(node.texts).split() == ["t"]
    assert g.texts == ["u"]


@pytest.mark.parametrize(
    "text",
    [
        *("", "a", "<a>", "<a/><b/>", "<a/> ", "t<a/>", "</robot><robot>", "<a></robot></a>"),
        *("<a b='1' b='2'/>", "<a xmlns='b'/>", "<a xmlns:b='c'/>", "<a><?b c?></a>", "<?b c?>"),
        *("<!-- b -->", "<a>&b;</a>", "<a><!-- b --", "<a" * 2, "<a>" * 200 + "</a>" * 200),
    ],
)
def test_what_is_not_one_plain_element(text: str):
    with pytest.raises(NoMouldError):
        parsed(text)

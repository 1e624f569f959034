"""XML that is to be written: what counts as the same, and how it stands on lines."""

from __future__ import annotations

from linkwork.formats.urdf.rewrite import Node, lines_of


def node(*children: Node, **attributes: str) -> Node:
    return Node("link", attributes, 0, list(children))


COMMENT = Node("", {}, None, text="<!-- c -->", silent=True)
EXTRA = Node("", {}, 1, text="<gazebo>\n</gazebo>", whose="link 'a'")


def test_the_order_of_attributes_and_the_place_do_not_count():
    a, b = Node("link", {"x": "1", "y": "2"}, 0), Node("link", {"y": "2", "x": "1"}, 5)
    assert a.same(b)
    assert a.says() == b.says()
    for other in (node(x="1"), node(x="1", y="3"), node(EXTRA, x="1", y="2"), EXTRA):
        assert not a.same(other)
        assert a.says() != other.says()


def test_comments_say_nothing_but_are_not_the_same():
    assert not node(EXTRA).same(node(COMMENT, EXTRA))
    assert node(EXTRA).says() == node(COMMENT, EXTRA).says()


def test_lines_know_whose_unknown_xml_stands_on_them():
    text = Node("type", {}, 2, text="a &amp; b")
    lines = list(lines_of(node(COMMENT, EXTRA, text, node(name="b"), name="a"), "  ", "\t"))
    assert [line for line, _ in lines] == [
        '  <link name="a">',
        "  \t<!-- c -->",
        "  \t<gazebo>\n</gazebo>",
        "  \t<type>a &amp; b</type>",
        '  \t<link name="b"/>',
        "  </link>",
    ]
    assert [whose for _, whose in lines if whose] == ["link 'a'"]

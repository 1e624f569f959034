from __future__ import annotations

import pytest
from benchmarks.cli import CASES, expand, main, parser


def test_every_case_but_all_is_reached_by_all_or_is_a_part() -> None:
    whole = expand(["all", "fk"])
    assert set(CASES) - {"all", "fk", "fk_all", "jacobian"} == set(whole)
    assert expand(["fk", "ik", "fk"]) == ["fk", "ik"]


def test_the_documented_command_is_understood() -> None:
    options = parser().parse_args("fk --robots panda ur5 --rows 16000".split())
    assert options.cases == ["fk"] and options.robots == ["panda", "ur5"]
    assert options.rows == [16000]


@pytest.mark.parametrize("text", ["nothing", "fk --robots nobody", "fk --peers nobody"])
def test_unknown_names_are_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(text.split())
    assert "invalid choice" in capsys.readouterr().err


def test_nonsense_numbers_end_with_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fk", "--rows", "0", "--here"]) == 2
    assert "at least 1" in capsys.readouterr().err

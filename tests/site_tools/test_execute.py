"""What counts as a printed line, where it stands, and how a difference is told."""

import textwrap

import pytest

from site_tools.execute import report, with_outputs


def program(text):
    return textwrap.dedent(text).lstrip("\n")


GOOD = {
    "one line": """
        print(1)
        #> 1
        """,
    "a loop, all rounds under the print": """
        for n in range(3):
            print(n)
            #> 0
            #> 1
            #> 2
        """,
    "two prints in a loop": """
        for n in range(2):
            print("a", n)
            #> a 0
            #> a 1
            print("b", n)
            #> b 0
            #> b 1
        """,
    "several lines, one of them empty": """
        print("a\\n\\nb  ")
        #> a
        #>
        #> b
        """,
    "a call over several lines": """
        print(
            1,
            2,
        )
        #> 1 2
        """,
    "a print in a function": """
        def show(x):
            print(x)
            #> 1
            #> 2


        show(1)
        show(2)
        """,
    "a line belongs to the print that ends it": """
        for n in range(2):
            print(n, end=" ")
            print("and")
            #> 0 and
            #> 1 and
        print("x", end="")
        #> x
        """,
    "other writers": """
        import sys
        from pprint import pprint

        pprint([1])
        #> [1]
        sys.stdout.write("x\\n")
        #> x
        """,
    "a mark in a string is no output": '''
        text = """
        #> not an output
        """
        ''',
}
BAD = {
    "missing": ("print(1)\n", 1, "  printed: #> 1"),
    "extra": ("x = 1\n#> 1\n", 1, "  shown:   #> 1"),
    "different": ("print(1)\n#> 2\n", 1, "  printed: #> 1"),
    "one line too many": ("print(1)\n#> 1\n#> 1\n", 1, "  shown:   #> 1"),
    "under another statement": ("print(1)\nx = 1\n#> 1\n", 1, "  printed: #> 1"),
    "after a blank line": ("print(1)\n\n#> 1\n", 1, "  printed: #> 1"),
    "beside the print": ("print(1)  #> 1\n", 1, "  printed: #> 1"),
    "no space": ("print(1)\n#>1\n", 1, "  printed: #> 1"),
    "an exception": ("x = 1\nx / 0\n", 2, "ZeroDivisionError: division by zero"),
    "in a function": ("def f():\n    raise ValueError('no')\n\n\nf()\n", 2, "f:5 in <module>: f()"),
    "no Python": ("x = 1\nx = = 2\n", 2, "SyntaxError"),
    "a library call": ("import json\n\njson.loads('x')\n", 3, "JSONDecodeError"),
    "exit": ("raise SystemExit(0)\n", 1, "SystemExit"),
}


@pytest.mark.parametrize("code", GOOD.values(), ids=GOOD.keys())
def test_shown_outputs_are_right(code):
    code = program(code)
    assert report(code, "f:{}".format) == ""
    assert with_outputs(code) == code


@pytest.mark.parametrize("code, line, message", BAD.values(), ids=BAD.keys())
def test_wrong_outputs_are_found_at_their_line(code, line, message):
    wrong = report(code, "f:{}".format)
    assert wrong.startswith(f"f:{line}: "), wrong
    assert message in wrong


@pytest.mark.parametrize("name", ["missing", "extra", "different", "one line too many", "after a blank line"])
def test_outputs_are_rewritten(name):
    code = with_outputs(BAD[name][0])
    assert report(code, "f:{}".format) == ""


def test_outputs_of_every_good_program_can_be_written_from_nothing():
    for code in map(program, GOOD.values()):
        if "not an output" not in code:
            bare = "".join(line for line in code.splitlines(keepends=True) if not line.lstrip().startswith("#>"))
            assert with_outputs(bare) == code


def test_a_failing_program_is_not_rewritten():
    with pytest.raises(ZeroDivisionError):
        with_outputs("1 / 0\n")


def test_a_program_runs_in_an_empty_folder_and_alone():
    assert report("import os\n\nassert os.listdir() == []\nopen('x', 'w').close()\n", str) == ""
    assert report("x = 1\n", str) == ""
    assert "NameError" in report("x\n", str)


def test_source_can_be_inspected():
    """torch.compile and triton read the source of what they are given."""
    assert report("import inspect\n\n\ndef f(): ...\n\n\nassert 'def f' in inspect.getsource(f)\n", str, "p") == ""

"""Each rule of the gates on a small good repository with one thing made bad: the finding names file, line and rule."""
# ruff: noqa: E501 (a table reads better with one case a line)

import pytest

from site_tools.gates import GATES, findings

ZH = """\
# 标题 { #title }

数 0.731 与 12.5%，见[掩码](b.md#masks)[^1]，**粗体**也行，`x = 0.5` 和 $a_i$ 亦可。

$$p_i = 0.5 \\text{（若 T）}$$

如下图所示。

![一幅图](figures/a_one.light.svg)

| T | p |
|---|---|
| 1 | 0.731 |

!!! note "注意"

    价格是 \\$5。

=== "NumPy"

    ``` { .python }
    --8<-- "snippets/a/numpy_reference.py:imports"


    --8<-- "snippets/a/numpy_reference.py:f"


    --8<-- "snippets/shared.py:helper"
    ```

``` { .text }
0.999
```

[^1]: 脚注，默认值 0.42。
"""
EN = """\
# Title { #title }

Numbers 12.5% and 0.731, see [masks](b.md#masks)[^1], in **bold**, with `x = 0.5` and $a_i$ too.

$$p_i = 0.5 \\text{ (if T)}$$

See the figure below.

![A figure](figures/a_one.light.svg)

| T | p |
|---|---|
| 1 | 0.731 |

!!! note "Note"

    The price is \\$5.

=== "NumPy"

    ``` { .python }
    --8<-- "snippets/a/numpy_reference.py:imports"


    --8<-- "snippets/a/numpy_reference.py:f"


    --8<-- "snippets/shared.py:helper"
    ```

``` { .text }
0.999
```

[^1]: A footnote; the default is 0.42.
"""
CODE = """\
# --8<-- [start:imports]
import math
# --8<-- [end:imports]


# --8<-- [start:f]
print(0.73106, 0.5)
#> 0.73106 0.5
# --8<-- [end:f]
"""
SHARED = "# --8<-- [start:helper]\nx = 1\n# --8<-- [end:helper]\n"
QUOTED = '[[figure]]\npage = "a"\nvalue = "0.42"\nwhat = "w"\nsource = "guo2017"\ndate = "2026-11"\n'
GOOD = {
    "mkdocs.yml": "nav:\n  - 甲: a.md\n  - 部分:\n      - 乙: b.md\nsite_url: !ENV [X, y]\n",
    "mkdocs.en.yml": "nav:\n  - A: a.md\n  - Part:\n      - B: b.md\n",
    "docs/zh/a.md": ZH,
    "docs/en/a.md": EN,
    "docs/zh/b.md": "---\ndescription: 一句话。\n---\n# 乙 { #b }\n\n## 掩码 { #masks }\n",
    "docs/en/b.md": "---\ndescription: A page.\n---\n# B { #b }\n\n## Masks { #masks }\n",
    "docs/quoted_figures.toml": QUOTED,
    "docs/references.toml": "[guo2017]\n",
    "snippets/shared.py": SHARED,
    "snippets/a/numpy_reference.py": CODE,
    "snippets/a/pytorch.py": "",
    "snippets/unfinished/numpy_reference.py": "# --8<-- [start:g]\n# --8<-- [end:g]\n",
    "figures/a.py": "",
    "figures/data/a.json": '{"a_one": {"share": [0.12498]}}',
    "tests/snippets/a/test_numpy_reference.py": "",
    "tests/snippets/a/test_pytorch.py": "",
}
B = "docs/zh/b.md", "## 掩码 { #masks }\n"
LONG = "## 掩码 { #masks }\n\n"
# gate, file, what to replace (None: remove the file), by what, the findings
BAD = [
    ("parity", "docs/en/b.md", None, "", ["docs/zh/b.md:1 PARITY-PAGE"]),
    ("parity", "docs/en/b.md", "## Masks", "### Masks", ["docs/zh/b.md:6 PARITY-HEADING"]),
    ("parity", "docs/en/b.md", "#masks", "#mask", ["docs/zh/b.md:6 PARITY-HEADING"]),
    ("parity", *B, "", ["docs/en/b.md:6 PARITY-HEADING"]),
    ("parity", "docs/en/a.md", ":f", ":g", ["docs/zh/a.md:21 PARITY-FENCE"]),
    ("parity", "docs/en/a.md", "p_i =", "q_i =", ["docs/zh/a.md:5 PARITY-FORMULA"]),
    ("parity", "docs/en/a.md", "$$p_i = 0.5 \\text{ (if T)}$$\n\n", "", ["docs/zh/a.md:5 PARITY-FORMULA"]),
    ("parity", "docs/zh/a.md", "a_one", "a_two", ["docs/zh/a.md:9 PARITY-FIGURE"]),
    ("parity", "docs/en/a.md", "| 1 | 0.731 |", "| 1 | 0.731 |\n| 2 | 0.5 |", ["docs/zh/a.md:11 PARITY-TABLE"]),
    ("parity", "docs/en/a.md", "!!! note", "!!! tip", ["docs/zh/a.md:15 PARITY-BOX"]),
    ("parity", "docs/en/a.md", "[^1],", ",", ["docs/zh/a.md:3 PARITY-FOOTNOTE"]),
    ("parity", "docs/en/a.md", "#masks)", "#b)", ["docs/zh/a.md:3 PARITY-LINK"]),
    ("parity", "docs/en/a.md", "[masks](b.md#masks)", "masks", ["docs/zh/a.md:3 PARITY-LINK"]),
    ("parity", "mkdocs.en.yml", "  - Part:\n      - B: b.md", "  - B: b.md", ["mkdocs.en.yml:1 PARITY-NAV"]),
    ("parity", "docs/zh/c.md", "", "# 丙 { #c }\n", ["docs/zh/c.md:1 PARITY-PAGE", "docs/zh/c.md:1 PARITY-NAV"]),
    ("numbers", "docs/en/a.md", "12.5% and 0.731", "12.5% and 0.73", ["docs/zh/a.md:3 NUMBER-PARITY", "docs/en/a.md:3 NUMBER-PARITY"]),
    ("numbers", "docs/en/a.md", "12.5% and", "12.6% and", ["docs/en/a.md:3 NUMBER-STRAY", "docs/zh/a.md:3 NUMBER-PARITY", "docs/en/a.md:3 NUMBER-PARITY"]),
    ("numbers", "figures/data/a.json", "0.12498", "0.13", ["docs/zh/a.md:3 NUMBER-STRAY", "docs/en/a.md:3 NUMBER-STRAY"]),
    ("numbers", "snippets/a/numpy_reference.py", "print(0.73106, 0.5)\n#> 0.73106", "print(0.7316, 0.5)\n#> 0.7316", [f"docs/{x}/a.md:{n} NUMBER-STRAY" for x in ("zh", "en") for n in (3, 13)]),
    ("numbers", "docs/quoted_figures.toml", QUOTED, "", ["docs/zh/a.md:35 NUMBER-STRAY", "docs/en/a.md:35 NUMBER-STRAY"]),
    ("numbers", "docs/quoted_figures.toml", "[[", QUOTED.replace("0.42", "0.3") + "[[", ["docs/quoted_figures.toml:1 NUMBER-UNUSED"]),
    ("numbers", "docs/quoted_figures.toml", "[[", '[[figure]]\npage = "b"\n[[', ["docs/quoted_figures.toml:1 NUMBER-QUOTE"]),
    ("numbers", "docs/references.toml", "[guo2017]", "[guo]", ["docs/quoted_figures.toml:1 NUMBER-QUOTE", "docs/zh/a.md:35 NUMBER-STRAY", "docs/en/a.md:35 NUMBER-STRAY"]),
    ("blocks", "docs/zh/a.md", "    --8<-- \"snippets/a/numpy_reference.py:imports\"\n", "    import math\n", ["docs/zh/a.md:22 CODE-ON-PAGE"]),
    ("blocks", "docs/zh/a.md", ":imports\"", '"', ["docs/zh/a.md:22 CODE-ON-PAGE"]),
    ("blocks", "docs/zh/a.md", ":f\"", ':gone"', ["docs/zh/a.md:25 CODE-INCLUDE"]),
    ("blocks", "docs/zh/a.md", "{ .text }", "", ["docs/zh/a.md:31 CODE-LANGUAGE"]),
    ("blocks", "docs/zh/a.md", "{ .python }", "py", ["docs/zh/a.md:21 CODE-LANGUAGE"]),
    ("blocks", "docs/zh/a.md", "{ .python }", "{ .Python }", ["docs/zh/a.md:21 CODE-LANGUAGE"]),
    ("blocks", "docs/zh/a.md", '"NumPy"\n\n', '"NumPy"\n', ["docs/zh/a.md:20 CODE-LANGUAGE", "docs/zh/a.md:28 CODE-LANGUAGE"]),
    ("completeness", "snippets/a/numpy_reference.py", "# --8<-- [start:f]", "# --8<-- [start:g]\n# --8<-- [end:g]\n# --8<-- [start:f]", ["snippets/a/numpy_reference.py:6 COMPLETE-SECTION"]),
    ("completeness", "snippets/a/numpy_reference.py", "# --8<-- [end:f]\n", "", ["snippets/a/numpy_reference.py:6 COMPLETE-SECTION"]),
    ("completeness", "snippets/a/numpy_reference.py", "[start:imports]", "", ["snippets/a/numpy_reference.py:3 COMPLETE-SECTION"]),
    ("completeness", "snippets/shared.py", SHARED, SHARED + SHARED.replace("helper", "other"), ["snippets/shared.py:4 COMPLETE-SECTION"]),
    ("completeness", "docs/en/a.md", '    --8<-- "snippets/shared.py:helper"\n', "", ["snippets/shared.py:1 COMPLETE-SECTION"]),
    ("completeness", "docs/en/a.md", "figures/a_one", "figures/a_two", ["figures/a.py:1 COMPLETE-FIGURE"]),
    ("completeness", "snippets/a/pytorch.py", None, "", ["snippets/a/pytorch.py:1 COMPLETE-CHAPTER"]),
    ("completeness", "tests/snippets/a/test_pytorch.py", None, "", ["tests/snippets/a/test_pytorch.py:1 COMPLETE-CHAPTER"]),
    ("completeness", "mkdocs.yml", "乙: b.md", "乙: unfinished.md", ["snippets/unfinished/numpy_reference.py:1 COMPLETE-SECTION", "COMPLETE-CHAPTER"]),
    ("typography", "docs/zh/b.md", "掩码 { #masks }", "掩码", ["docs/zh/b.md:6 ZH-5"]),
    ("typography", "docs/zh/b.md", "{ #masks }", "{ #掩码 }", ["docs/zh/b.md:6 ZH-5"]),
    ("typography", "docs/zh/b.md", "一句话。", "一句话, 0.9", ["docs/zh/b.md:2 ZH-1"]),
    ("numbers", "docs/en/b.md", "A page.", "A page: 0.9.", ["docs/en/b.md:2 NUMBER-STRAY", "docs/en/b.md:2 NUMBER-PARITY"]),
    ("typography", "docs/zh/a.md", "![一幅图]", "![]", ["docs/zh/a.md:9 TEXT-5"]),
    ("typography", "docs/zh/a.md", "![一幅图]", "![A figure]", ["docs/zh/a.md:9 TEXT-5"]),
    ("typography", "docs/en/a.md", "![A figure]", "![一幅图]", ["docs/en/a.md:9 TEXT-5"]),
    ("typography", "docs/en/a.md", "$a_i$", "$\\mathrm{softmax}(z_i)$", ["docs/en/a.md:3 MATH-2"]),
    ("typography", "docs/en/a.md", "with", "wi\u0442h", ["docs/en/a.md:3 ZH-1"]),
    ("typography", "docs/en/a.md", "bold**, with", "bold**，with", ["docs/en/a.md:3 ZH-1"]),
]  # fmt: skip
# a paragraph of a Chinese page, the rules it breaks
PARAGRAPHS = {
    "在 float32 中，`x` 与 $y$（见 [A, B](b.md#b)）：“好”。": [],
    "**注意**：在 [NumPy](https://x.org) 里是 50%，T = 0.5。": [],
    "- 一\n- 二": [],
    "softmax(z) 是 $\\mathrm{softmax}(z)_i$。": [],
    "数学里的 $\\text{若 } x$，价格 \\$5。": [],
    "中文,中文": ["ZH-1"],
    "中文, 中文": ["ZH-1"],
    "中文.": ["ZH-1"],
    "中文: `x`": ["ZH-1"],
    "用 `x`, 然后": ["ZH-1"],
    "真的?": ["ZH-1"],
    "温度(temperature)": ["ZH-1"],
    "温度 (见下)": ["ZH-1"],
    "所谓\"温度\"": ["ZH-1", "ZH-1"],
    "在float32 中": ["ZH-1"],
    "在 float32中": ["ZH-1"],
    "在`x` 中": ["ZH-1"],
    "在 $x$中": ["ZH-1"],
    "共3 个": ["ZH-1"],
    "好 ，是": ["ZH-1"],
    "好， 是": ["ZH-1"],
    "溫度": ["ZH-1"],
    "在 ｆ 中": ["ZH-1"],
    "是 −3": ["ZH-1"],
    "中\u200b文": ["ZH-1"],
    "中文\n中文": ["ZH-2"],
    "**注意：**正文": ["ZH-3"],
    "正文，**注意。**": ["ZH-3"],
    "**（注）**": ["ZH-3", "ZH-3"],
    "从 $5 起": ["ZH-4"],
    "从 $5 涨到$6": ["ZH-4"],
    "式 $若 x$": ["ZH-4"],
}  # fmt: skip


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf8")


@pytest.mark.parametrize("gate", GATES)
def test_a_good_repository_passes(tmp_path, gate):
    write(tmp_path, GOOD)
    assert findings(gate, tmp_path) == []


@pytest.mark.parametrize("gate, file, old, new, expected", BAD)
def test_what_is_bad_is_found_at_its_line(tmp_path, gate, file, old, new, expected):
    write(tmp_path, GOOD)
    if old is None:
        (tmp_path / file).unlink()
    else:
        text = GOOD.get(file, "")
        assert old in text
        write(tmp_path, {file: text.replace(old, new, 1)})
    found = [f"{finding.where} {finding.rule}" for finding in findings(gate, tmp_path)]
    if expected[-1] == "COMPLETE-CHAPTER":  # all parts but one are missing
        assert found[: len(expected) - 1] == expected[:-1] and len(found) > len(expected)
    else:
        assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("text, rules", PARAGRAPHS.items())
def test_typography_of_a_chinese_paragraph(tmp_path, text, rules):
    write(tmp_path, GOOD | {"docs/zh/b.md": f"# 乙 {{ #b }}\n\n{text}\n"})
    found = findings("typography", tmp_path)
    assert [finding.rule for finding in found] == rules, found
    assert all(finding.where == "docs/zh/b.md:3" for finding in found)

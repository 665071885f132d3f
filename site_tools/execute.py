"""Run a program and compare what it prints with the `#> ` lines under its prints. Standard library only."""

import ast
import contextlib
import io
import linecache
import sys
import tempfile
import tokenize
import traceback

MARK = "#>"


class _Recorder(io.TextIOBase):
    """A stdout that remembers which line of the program ended each line of output."""

    def __init__(self, program):
        self.program, self.lines, self.pending, self.last = program, {}, "", 1

    def write(self, text):
        frame = sys._getframe(1)
        while frame and frame.f_code.co_filename != self.program:
            frame = frame.f_back
        self.last = frame.f_lineno if frame else self.last
        *ended, self.pending = (self.pending + text).split("\n")
        if ended:
            self.lines.setdefault(self.last, []).extend(ended)
        return len(text)


def execute(code, program="<program>"):
    """Run `code` as `__main__` in an empty folder; return the `#> ` lines its prints call for, and its error or None.

    The lines are a dictionary by the last line of the statement that printed them: a print in a loop or in a function
    has one entry, all rounds together.
    """
    lines = code.splitlines(keepends=True)
    linecache.cache[program] = len(code), None, lines, program  # for tracebacks and inspect.getsource
    stdout, error = _Recorder(program), None
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(stdout):
        try:
            exec(compile(code, program, "exec", dont_inherit=True), {"__name__": "__main__"})
        except (Exception, SystemExit) as caught:
            error = caught
    if stdout.pending:
        stdout.write("\n")
    outputs = {}
    statements = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.stmt)] if stdout.lines else []
    for line, printed in stdout.lines.items():
        around = [node for node in statements if node.lineno <= line <= node.end_lineno]
        statement = min(around, key=lambda node: node.end_lineno - node.lineno)
        first = lines[statement.lineno - 1]
        indent = first[: len(first) - len(first.lstrip())]
        shown = [f"{indent}{MARK} {text}".rstrip() for text in printed]
        outputs.setdefault(statement.end_lineno, []).extend(shown)
    return outputs, error


def shown_outputs(code):
    """Return the `#> ` lines in `code`, by the line above them."""
    shown, above, last = {}, 0, 0
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT and token.string.startswith(MARK):
            line = token.start[0]
            above = above if line == last + 1 else line - 1
            shown.setdefault(above, []).append(token.line.rstrip())
            last = line
    return shown


def report(code, where, program="<program>", compare=True):
    """Run `code`; return "" if it runs and prints what it shows, else what is wrong. `where(line)` names a line."""
    outputs, error = execute(code, program)
    if error is not None:
        return _trace(error, where, program)
    wrong = []
    shown = shown_outputs(code)
    for line in sorted(outputs.keys() | shown.keys()) if compare else ():
        old, new = shown.get(line, []), outputs.get(line, [])
        if old != new:
            wrong.append(f"{where(max(line, 1))}: OUTPUT the program does not print what is shown under this line")
            wrong += [f"  shown:   {text}" for text in old] + [f"  printed: {text}" for text in new]
    return "\n".join(wrong)


def _trace(error, where, program):
    frames = traceback.extract_tb(error.__traceback__)
    own = [n for n, frame in enumerate(frames) if frame.filename == program]
    if isinstance(error, SyntaxError) and error.filename == program:
        return f"{where(error.lineno or 1)}: {type(error).__name__}: {error.msg}"
    head = f"{where(frames[own[-1]].lineno if own else 1)}: {type(error).__name__}: {error}"
    calls = [
        f"  {where(frame.lineno) if frame.filename == program else f'{frame.filename}:{frame.lineno}'}"
        f" in {frame.name}: {frame.line}"
        for frame in frames[own[0] if own else 0 :]
    ]
    return "\n".join([head, *calls])


def with_outputs(code):
    """Return `code` with the `#> ` lines its prints call for in place of those it has."""
    outputs, error = execute(code)
    if error is not None:
        raise error
    stale = {above + 1 + n for above, texts in shown_outputs(code).items() for n in range(len(texts))}
    lines = []
    for n, line in enumerate(code.splitlines(), 1):
        lines += [line] if n not in stale or not line.lstrip().startswith(MARK) else []
        lines += outputs.get(n, [])
    return "\n".join(lines) + "\n"

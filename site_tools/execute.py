"""Run a program and compare what it prints with the `#> ` lines under its prints. Standard library only."""

import ast
import contextlib
import io
import linecache
import sys
import tempfile
import tokenize
import traceback

OUTPUT = "#>"


class _Recorder(io.TextIOBase):
    """A stdout that remembers which line of the program was writing."""

    def __init__(self, program):
        self.program, self.written = program, {}

    def write(self, text):
        frame = sys._getframe(1)
        while frame and frame.f_code.co_filename != self.program:
            frame = frame.f_back
        line = frame.f_lineno if frame else 0
        self.written[line] = self.written.get(line, "") + text
        return len(text)


def execute(code, program="<program>"):
    """Run `code` as `__main__` in an empty folder; return {last line of a statement: lines it printed} and the error.

    A print in a loop or in a function counts for its own statement, all rounds together.
    """
    linecache.cache[program] = len(code), None, code.splitlines(keepends=True), program  # for tracebacks and inspect
    stdout, error = _Recorder(program), None
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(stdout):
        try:
            exec(compile(code, program, "exec", dont_inherit=True), {"__name__": "__main__"})
        except (Exception, SystemExit) as caught:
            error = caught
    if not stdout.written:
        return {}, error
    statements = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.stmt)]
    printed = {}
    for line, text in stdout.written.items():
        around = [node for node in statements if node.lineno <= line <= node.end_lineno]
        end = min(around, key=lambda node: node.end_lineno - node.lineno).end_lineno if around else 0
        printed.setdefault(end, []).extend(f"{OUTPUT} {shown}".rstrip() for shown in text.splitlines())
    return printed, error


def shown_outputs(code):
    """Return {line above: the `#> ` comments under it}."""
    shown, above, last = {}, 0, 0
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT and token.string.startswith(OUTPUT):
            line = token.start[0]
            above = above if line == last + 1 and above != last else line - 1
            shown.setdefault(above, []).append(token.string.rstrip())
            last = line
    return shown

"""Read docs/glossary.toml, references.toml and claims.toml, and check every entry against its form."""

import tomllib

from site_tools import LANGUAGES, ROOT

VERDICTS = ("TRUE", "CONDITIONS", "MISLEADING", "FALSE", "UNVERIFIABLE")
BILINGUAL = dict  # {zh = "…", en = "…"}
# What each key of an entry holds; a key with a question mark may be missing.
FORMS = {
    "glossary": {"zh": str, "en": str, "zh_definition": str, "en_definition": str},
    "references": {
        "authors": str, "title": str, "year": int, "venue": str, "read": BILINGUAL,
        "arxiv?": str, "doi?": str, "url?": str,
    },
    "claims": {
        "line": str, "chapter": str, "verdict": str, "claim": BILINGUAL, "right": BILINGUAL, "sources": list,
    },
}  # fmt: skip


class DataError(Exception):
    """A file, an entry, and what is wrong with it."""


def load(name, root=ROOT):
    """Return the entries of docs/<name>.toml by id, in the order of the file. Raises DataError."""
    path = root / "docs" / f"{name}.toml"
    try:
        entries = tomllib.loads(path.read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise DataError(f"docs/{name}.toml: {error}") from None
    references = load("references", root) if name == "claims" else {}
    for key, entry in entries.items():
        fault = next(faults(name, entry, references), None)
        if fault is None and name == "claims" and not (root / f"docs/{LANGUAGES[0]}/{entry['chapter']}.md").is_file():
            fault = f"there is no chapter {entry['chapter']!r}"
        if fault:
            raise DataError(f"docs/{name}.toml: [{key}]: {fault}")
    return entries


def faults(name, entry, references):
    """Yield what is wrong with one entry of the file `name`."""
    form = {key.rstrip("?"): kind for key, kind in FORMS[name].items()}
    if not isinstance(entry, dict):
        yield "is not a table"
        return
    if unknown := set(entry) - set(form):
        yield f"unknown key {', '.join(sorted(unknown))}"
    if missing := {key for key in FORMS[name] if not key.endswith("?")} - set(entry):
        yield f"no {', '.join(sorted(missing))}"
    for key, value in entry.items():
        if type(value) is not form[key]:
            yield f"{key} is not a {form[key].__name__}"
        elif value == "":
            yield f"{key} is empty"
        elif form[key] is BILINGUAL and (set(value) != set(LANGUAGES) or not all(value.values())):
            yield f"{key} needs {' and '.join(LANGUAGES)}, has {', '.join(value) or 'nothing'}"
    if name == "references" and not {"arxiv", "doi", "url"} & set(entry):
        yield "no arxiv, doi or url"
    if name == "claims":
        if entry["verdict"] not in VERDICTS:
            yield f"verdict {entry['verdict']!r} is none of {', '.join(VERDICTS)}"
        if unknown := [key for key in entry["sources"] if key not in references]:
            yield f"sources not in docs/references.toml: {', '.join(map(str, unknown))}"

"""Pages that the code writes: verbs from their help, columns from their schemas, papers from their claims."""

import json
import os
import re
import subprocess


def run(command, *args):
    environment = {**os.environ, "COLUMNS": "110", "NO_COLOR": "1"}
    done = subprocess.run([command, *args], capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"inorder {' '.join(args)}: {done.stderr.strip()}")
    return done.stdout


def verbs_of(help_text):
    """The names under `Commands:` of a help text."""
    block = re.search(r"^Commands:\n(.*?)\n\n", help_text, re.M | re.S)
    names = re.findall(r"^  ([a-z][-a-z]*)", block[1], re.M) if block else []
    return [name for name in names if name != "help"]


def verbs(command, folder):
    """A page for each verb, with those below it."""
    written = []
    for verb in verbs_of(run(command, "--help")):
        own = run(command, verb, "--help")
        page = [f"# inorder {verb}", "", "```text", own.rstrip(), "```", ""]
        for nested in verbs_of(own):
            more = run(command, verb, nested, "--help")
            page += [f"## inorder {verb} {nested}", "", "```text", more.rstrip(), "```", ""]
        (folder / f"{verb}.md").write_text("\n".join(page))
        written.append((f"inorder {verb}", f"{folder.name}/{verb}.md"))
    return written


def rows(properties, prefix=""):
    for name, what in properties.items():
        kind = what.get("type") or ("one of " + ", ".join(f"`{v}`" for v in what["enum"]) if "enum" in what else "")
        kind = " or ".join(kind) if isinstance(kind, list) else kind
        about = what.get("description", "").replace("|", "\\|")
        yield f"| `{prefix}{name}` | {kind} | {about} |"
        inner = what.get("items", what)
        yield from rows(inner.get("properties", {}), f"{prefix}{name}{'[]' if 'items' in what else ''}.")


def columns(schemas, folder):
    """One page of every field that a verb prints as JSON; CSV and Parquet have the same names."""
    page = ["# Columns", "", "What each verb prints as JSON. CSV, Parquet and the tables of the Python package have the same names.", ""]
    for path in sorted(schemas.glob("*.schema.json")):
        schema = json.loads(path.read_text())
        verb = path.name.split(".")[0]
        page += [f"## {verb}", "", schema.get("description", ""), "", "| name | type | meaning |", "|---|---|---|"]
        inner = schema.get("items", schema)
        page += [*rows(inner.get("properties", {})), ""]
    (folder / "columns.md").write_text("\n".join(page))
    return [("Columns", f"{folder.name}/columns.md")]


def python(folder):
    names = ["analyze", "metrics", "sort", "simulate", "netproc", "corpus", "campaign", "population", "compare"]
    names += ["papers", "reproduce", "plots", "Error"]
    page = ["# Python, function by function", "", "The guide is [the Python package](../python.md).", ""]
    page += [f"::: inorder.{name}\n" for name in names]
    (folder / "python.md").write_text("\n".join(page))
    return [("Python", f"{folder.name}/python.md")]


def papers(command, folder, quick):
    """A page for each paper: claims with their verdicts, then each figure or table beside what is printed."""
    known = sorted({claim for claim in re.findall(r"^([a-z][-a-z]+)\b", run(command, "reproduce"), re.M)})
    written = []
    for paper in known:
        page = folder / f"{paper}.md"
        if not page.exists():
            extra = ["--quick"] if quick else []
            run(command, "reproduce", paper, *extra, "--no-progress", "-q", "--markdown", str(page))
            if quick:
                note = "\n!!! note\n    A quick run: smaller grids and shorter runs, so that many claims are undecided. "
                note += f"`inorder reproduce {paper}` has them all.\n"
                head, _, rest = page.read_text().partition("\n")
                page.write_text(head + "\n" + note + rest)
        written.append((paper, f"{folder.name}/{paper}.md"))
    return written

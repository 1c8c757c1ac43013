"""Pages that the code writes: verbs from their help, columns from their schemas, papers from their claims."""

import json
import os
import re
import subprocess

# Reads a list of specifications and prints the list of their pictures.
DRAW = "import json, sys, vl_convert as v; print(json.dumps([v.vegalite_to_svg(s) for s in json.load(sys.stdin)]))"


def run(command, *args):
    environment = {**os.environ, "COLUMNS": "110", "NO_COLOR": "1"}
    done = subprocess.run([command, *args], capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"inorder {' '.join(args)}: {done.stderr.strip()}")
    return done.stdout


def verbs_of(help_text):
    """The verbs of a help text: in groups, or under `Commands:`, in front of arguments and options."""
    names = re.findall(r"^  ([a-z][-a-z]*)  ", re.split(r"^(?:Arguments|Options):", help_text, flags=re.M)[0], re.M)
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
    names = ["analyze", "metrics", "sort", "simulate", "lab", "netproc", "petri", "corpus", "campaign", "population", "compare"]
    names += ["papers", "reproduce", "plots", "Error"]
    page = ["# Python, function by function", "", "The guide is [the Python package](../python.md).", ""]
    page += [f"::: inorder.{name}\n" for name in names]
    (folder / "python.md").write_text("\n".join(page))
    return [("Python", f"{folder.name}/python.md")]


def papers(command, folder, quick, python):
    """A page for each paper: the verdicts, then each figure, drawn, beside what is printed."""
    known = sorted({claim for claim in re.findall(r"^([a-z][-a-z]+)\b", run(command, "reproduce"), re.M)})
    written = []
    for paper in known:
        page = folder / f"{paper}.md"
        if not page.exists():
            extra = ["--quick"] if quick else []
            numbers, drawn = folder / f"{paper}.json", folder / f"{paper}.html"
            files = ["--markdown", str(page), f"--json={numbers}", "--html", str(drawn)]
            run(command, "reproduce", paper, *extra, "--no-progress", "-q", *files)
            claims = json.loads(numbers.read_text())["claims"]
            figures = json.loads(re.search(r'id=data>(.*?)</script>', drawn.read_text())[1])
            numbers.unlink()
            drawn.unlink()
            note = tally(claims)
            if quick:
                note += "\n!!! note\n    A quick run: smaller grids and shorter runs, so that many claims are undecided. "
                note += f"`inorder reproduce {paper}` has them all.\n"
            head, _, rest = page.read_text().partition("\n")
            page.write_text(illustrated(f"{head}\n{note}{rest}", paper, figures, folder, python))
        written.append((paper, f"{folder.name}/{paper}.md"))
    return written


def tally(claims):
    """How many claims held, failed and are undecided, and the reasons that experiments found for failed ones."""
    count = {verdict: sum(claim["verdict"] == verdict for claim in claims) for verdict in ("held", "failed", "undecided")}
    text = f"\n**{len(claims)} claims: {', '.join(f'{number} {verdict}' for verdict, number in count.items())}.** "
    reasons = [claim for claim in claims if claim["why"]]
    if count["failed"]:
        text += f"Of the failed ones, an experiment has found out why of {len(reasons)}.\n"
    return text + "".join(f"\n- {claim['text']}: {claim['why']}" for claim in reasons) + "\n"


def illustrated(text, paper, figures, folder, python):
    """The page with each figure drawn below the heading of its item."""
    specs = json.dumps([figure["spec"] for figure in figures])
    done = subprocess.run([python, "-c", DRAW], input=specs, capture_output=True, text=True, check=True)
    pictures = {}
    for number, (figure, svg) in enumerate(zip(figures, json.loads(done.stdout))):
        item, measure = figure["item"], figure["measure"]
        name = f"{paper}-{item}-{number}.svg"
        (folder / name).write_text(svg)
        pictures.setdefault(item, []).append(f"![{item}: {measure}, ours filled, printed hollow]({name})\n")
    for item, shown in pictures.items():
        text = text.replace(f"\n## {item}\n", "\n".join([f"\n## {item}\n", *shown]), 1)
    return text

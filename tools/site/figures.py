"""The pictures of docs/concepts/metrics.md, drawn from what `inorder metrics --json` says of ten arrivals."""

import json
import re
import subprocess

ARRIVALS = [1, 2, 3, 6, 7, 4, 8, 5, 9, 10]
STEP = 56
STYLE = """<style>
text { font: 14px sans-serif; fill: #333 } .late { fill: #d95f02 } .fine { fill: #1b9e77 } .line { stroke: #777; fill: none }
.hint { font-size: 12px; fill: #666 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .hint { fill: #aaa } }
</style>"""


def measured(command):
    numbers = "".join(f"{n}\n" for n in ARRIVALS)
    done = subprocess.run([command, "metrics", "--json"], input=numbers, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def check(page, metrics):
    """The values in the table of the page are those of the command."""
    rows = re.findall(r"^\| `(\w+)` \| ([-0-9.]+) \|$", page, re.M)
    if not rows:
        raise SystemExit("docs/concepts/metrics.md: expected a table of names and values")
    for name, value in rows:
        if float(value) != float(metrics[name]):
            raise SystemExit(f"docs/concepts/metrics.md: {name} is {metrics[name]}, the page says {value}")


def svg(width, height, title, body):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">'
        f"<title>{title}</title>{STYLE}{body}</svg>"
    )


def text(x, y, words, kind="", anchor="middle"):
    return f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">{words}</text>'


def is_late(at):
    return any(n > ARRIVALS[at] for n in ARRIVALS[:at])


def boxes(y):
    """The arrivals in a row, reordered ones in another colour."""
    out = []
    for at, number in enumerate(ARRIVALS):
        kind = "late" if is_late(at) else "fine"
        x = at * STEP + 8
        out.append(f'<rect x="{x}" y="{y}" width="{STEP - 12}" height="36" rx="6" class="{kind}"/>')
        out.append(f'<text x="{x + (STEP - 12) / 2}" y="{y + 24}" text-anchor="middle" style="fill:#fff">{number}</text>')
    return "".join(out)


def middle(at):
    return at * STEP + 8 + (STEP - 12) / 2


def width():
    return len(ARRIVALS) * STEP + 8


def arrivals():
    words = text(8, 18, "arrivals, the first on the left; reordered packets in orange", "hint", "start")
    return svg(width(), 72, "Ten arrivals, of which 4 and 5 are reordered", words + boxes(28))


def extent(metrics):
    body, y, extents = boxes(8), 66, []
    for at, number in enumerate(ARRIVALS):
        first = next((i for i, n in enumerate(ARRIVALS[:at]) if n > number), None)
        if first is None:
            continue
        extents.append(at - first)
        a, b = middle(first), middle(at)
        body += f'<path class="line" d="M{a} {y - 14} V{y} H{b} V{y - 14}"/>'
        body += text((a + b) / 2, y + 18, f"extent of {number}: {at - first}")
        y += 40
    if extents != metrics["extents"]:
        raise SystemExit(f"extents: the command says {metrics['extents']}, the picture {extents}")
    return svg(width(), y, "Extents of the two reordered packets", body)


def degrees():
    """Of each reordered packet, how many arrivals just before it were sent later."""
    body, y = boxes(8), 70
    for at, number in enumerate(ARRIVALS):
        if not is_late(at):
            continue
        n = next((k for k, m in enumerate(reversed(ARRIVALS[:at])) if m < number), at)
        a, b = middle(at - n), middle(at - 1)
        body += f'<path class="line" d="M{a - 16} {y - 16} H{b + 16}"/>'
        body += text((a + b) / 2, y, f"{n} before {number} sent later")
        y += 34
    return svg(width(), y, "Arrivals just before the reordered packets that were sent later", body)


def bars(shares, title, unit):
    places = sorted(shares, key=int)
    body, high = "", 150
    for i, place in enumerate(places):
        share, x = shares[place], 40 + i * 70
        height = share * 180
        body += f'<rect x="{x}" y="{high - height}" width="44" height="{height}" class="fine"/>'
        body += text(x + 22, high + 18, place) + text(x + 22, high - height - 6, f"{share:.0%}".replace("%", " %"))
    body += f'<path class="line" d="M30 {high} H{40 + len(places) * 70}"/>'
    body += text(40, high + 38, unit, "hint", "start")
    return svg(60 + len(places) * 70, high + 46, title, body)


def write(command, folder, page):
    metrics = measured(command)
    check(page, metrics)
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {
        "arrivals": arrivals(),
        "extent": extent(metrics),
        "n-reordering": degrees(),
        "reorder-density": bars(metrics["rd"], "Reorder density", "displacement, packets; negative: early"),
        "buffer-occupancy": bars(metrics["rbd"], "Buffer-occupancy density", "packets in the buffer at an arrival"),
    }
    for name, picture in pictures.items():
        (folder / f"{name}.svg").write_text(picture)

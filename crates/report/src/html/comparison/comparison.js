// The comparison of a grid's cells, measure by measure, and the traces of each cell.
"use strict";

const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c8c8c", "#b8a900"];
const SHAPES = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right", "triangle-left"];
const GLYPHS = ["●", "■", "▲", "◆", "▼", "✚", "▶", "◀"];
// Separates a group from a row of it in the key of a row.
const UNIT = "\u001f";

const page = read("data");
const charts = read("charts");
const figure = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });

// Which axis of the grid gives rows, which colours; the others part the rows into groups.
function arrange(colourAxis) {
  const distinct = page.axes.map((_, axis) => [...new Set(page.cells.map((labels) => labels[axis]))]);
  const free = page.axes.map((_, axis) => axis).filter((axis) => distinct[axis].length > 1);
  const most = (axes) => axes.reduce((best, axis) => (distinct[axis].length > distinct[best].length ? axis : best));
  const least = (axes) => axes.reduce((best, axis) => (distinct[axis].length < distinct[best].length ? axis : best));
  const coloured = free.filter((axis) => distinct[axis].length <= COLOURS.length);
  let colour = null;
  if (free.length > 1 && coloured.length > 0) colour = coloured.includes(colourAxis) ? colourAxis : least(coloured);
  const rest = free.filter((axis) => axis !== colour);
  const row = rest.length > 0 ? most(rest) : null;
  return { free: coloured, colour, row, groups: rest.filter((axis) => axis !== row), distinct };
}

// The rows of the charts in the order of the grid, each group under a heading of its own.
function rowsOf(layout) {
  const groupOf = (labels) => layout.groups.map((axis) => `${page.axes[axis]} = ${labels[axis]}`).join(", ");
  const groups = [...new Set(page.cells.map(groupOf))];
  const rows = layout.row === null ? ["all"] : layout.distinct[layout.row];
  const domain = groups.flatMap((group, number) => [
    ...(group ? [`#${number}${UNIT}${group}`] : []),
    ...rows.map((row) => `${number}${UNIT}${row}`),
  ]);
  const keyOf = (labels) =>
    `${groups.indexOf(groupOf(labels))}${UNIT}${layout.row === null ? "all" : labels[layout.row]}`;
  return { domain, keyOf };
}

// Every run shows; an interval that few runs make wider than that ends in an arrow at the edge.
function scaleOf(measure) {
  const cells = measure.cells.filter(Boolean).map(([mean, half, runs]) => ({ mean, half: half ?? 0, runs }));
  const values = cells.flatMap((cell) => cell.runs);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const reach = Math.max(most - least, Math.abs(most) * 0.02, 1e-12);
  const near = Math.min(...cells.map((cell) => Math.max(cell.mean - cell.half, least - reach * 0.25)), least);
  const far = Math.max(...cells.map((cell) => Math.min(cell.mean + cell.half, most + reach * 0.25)), most);
  const fromZero = least >= 0 && least < most * 0.8;
  const low = fromZero ? 0 : least >= 0 ? Math.max(near - reach * 0.05, 0) : near - reach * 0.05;
  return { low, high: far + reach * 0.03, fromZero };
}

function records(measure, layout, rows, scale) {
  const runs = [], means = [], arrows = [];
  page.cells.forEach((labels, number) => {
    if (!measure.cells[number]) return;
    const [mean, width, values] = measure.cells[number];
    const half = width ?? 0;
    const place = {
      row: rows.keyOf(labels),
      at: layout.row === null ? 0 : Number(labels[layout.row]),
      colour: layout.colour === null ? "" : labels[layout.colour],
    };
    const unit = measure.unit ? ` ${measure.unit}` : "";
    const said = {
      cell: page.axes.map((axis, at) => `${axis} = ${labels[at]}`).join(", ") || "the only cell",
      value: `${figure.format(mean)}${half > 0 ? ` ± ${figure.format(half)}` : ""}${unit}`,
      of: values.map((run) => figure.format(run)).join(", "),
    };
    for (const run of values) runs.push({ ...place, ...said, run });
    const [from, to] = [Math.max(mean - half, scale.low), Math.min(mean + half, scale.high)];
    // An interval that reaches below nothing, of what cannot be below nothing, does not tell the mean.
    const vague = half > Math.abs(mean);
    means.push({ ...place, ...said, mean, from, to, vague });
    if (mean + half > scale.high) arrows.push({ ...place, ...said, at: to, shape: "right" });
    if (mean - half < scale.low && scale.low !== 0) arrows.push({ ...place, ...said, at: from, shape: "left" });
  });
  return { runs, means, arrows };
}

// The values of the axis of the rows, if all of them are numbers and nothing else parts the rows: then curves are drawn.
function numbersOf(layout) {
  if (layout.row === null || layout.groups.length > 0) return null;
  const labels = layout.distinct[layout.row];
  const numbers = labels.map((label) => (label.trim() === "" ? NaN : Number(label)));
  return labels.length >= 3 && numbers.every(Number.isFinite) ? numbers : null;
}

function curveSpec(measure, layout, numbers) {
  const scale = scaleOf(measure);
  const { means } = records(measure, layout, rowsOf(layout), scale);
  const colours = layout.colour === null ? [""] : layout.distinct[layout.colour];
  const spec = structuredClone(charts.curve);
  const { x, y, color } = spec.encoding;
  x.title = page.axes[layout.row];
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  if (least > 0 && most >= 100 * least) x.scale = { type: "log", nice: false };
  y.scale.domain = [scale.low, scale.high];
  if (scale.high >= 1e4) y.axis.format = "~s";
  const { shape } = spec.layer.at(-1).encoding;
  color.scale.domain = shape.scale.domain = colours;
  color.scale.range = COLOURS.slice(0, colours.length);
  shape.scale.range = SHAPES.slice(0, colours.length);
  for (const layer of spec.layer) layer.data = { values: means };
  return { spec, fromZero: scale.fromZero };
}

function comparisonSpec(measure, layout) {
  const numbers = numbersOf(layout);
  if (numbers !== null) return curveSpec(measure, layout, numbers);
  const rows = rowsOf(layout);
  const scale = scaleOf(measure);
  const { runs, means, arrows } = records(measure, layout, rows, scale);
  const colours = layout.colour === null ? [""] : layout.distinct[layout.colour];
  const spec = structuredClone(charts.comparison);
  spec.height = rows.domain.length * (8 + 13 * colours.length);
  const { x, y, yOffset, color } = spec.encoding;
  const { shape } = spec.layer.at(-1).encoding;
  x.scale.domain = [scale.low, scale.high];
  if (scale.high >= 1e4) x.axis.format = "~s";
  y.scale.domain = rows.domain;
  yOffset.scale.domain = color.scale.domain = shape.scale.domain = colours;
  color.scale.range = COLOURS.slice(0, colours.length);
  shape.scale.range = SHAPES.slice(0, colours.length);
  if (colours.length === 1) delete spec.encoding.yOffset;
  const data = { runs, means, arrows };
  for (const layer of spec.layer) layer.data = { values: data[layer.data.name] };
  return { spec, fromZero: scale.fromZero };
}

function legend(layout) {
  const place = document.getElementById("legend");
  place.replaceChildren();
  if (layout.colour === null) return;
  const axis = document.createElement("label");
  axis.append("Colours tell ");
  const select = document.createElement("select");
  for (const one of layout.free) select.add(new Option(page.axes[one], one, false, one === layout.colour));
  select.addEventListener("change", () => compareCells(Number(select.value)));
  axis.append(select);
  place.append(axis);
  layout.distinct[layout.colour].forEach((value, number) => {
    const entry = document.createElement("span");
    const glyph = document.createElement("b");
    glyph.style.color = COLOURS[number];
    glyph.textContent = GLYPHS[number];
    entry.append(glyph, ` ${value}`);
    place.append(entry);
  });
}

let coloured = null;
function compareCells(axis) {
  // A single cell has nothing to compare with, and no place for it on the page.
  if (document.querySelector(".chart[data-measure]") === null) return;
  coloured = axis;
  const layout = arrange(axis);
  legend(layout);
  for (const chart of document.querySelectorAll(".chart[data-measure]")) {
    const { spec, fromZero } = comparisonSpec(page.measures[chart.dataset.measure], layout);
    chart.classList.toggle("cut", !fromZero);
    embed(chart.querySelector(".plot"), spec);
  }
}

// Traces: one chart a panel, with the same scales in all cells unless the reader wants each cell's own.
function largest(panel, cells) {
  const tops = cells.flatMap((cell) => cell.panels[panel].map(([, values]) => values.reduce((a, b) => Math.max(a, b), 0)));
  return Math.max(...tops, 1e-9);
}

function traceSpec(cell, panel, top) {
  const spec = structuredClone(charts.trace);
  const values = cell.panels[panel].flatMap(([times, figures], line) =>
    times.map((t, at) => ({ t, v: figures[at], line: cell.lines[line] })));
  spec.data = { values };
  spec.mark.interpolate = page.steps[panel] ? "step-after" : "linear";
  spec.encoding.x.scale.domain = [0, page.duration];
  spec.encoding.y.scale.domain = [0, top];
  const repeat = (list) => cell.lines.map((_, line) => list[line % list.length]);
  Object.assign(spec.encoding.color.scale, { domain: cell.lines, range: repeat(COLOURS) });
  const dashes = cell.lines.map((_, line) => (line < COLOURS.length ? [1, 0] : [4, 3]));
  Object.assign(spec.encoding.strokeDash.scale, { domain: cell.lines, range: dashes });
  if (cell.lines.length === 1) spec.encoding.color.legend = null;
  return spec;
}

function drawTraces(section) {
  const equal = document.getElementById("equal").checked;
  const all = page.traces.filter(Boolean);
  const cell = page.traces[section.dataset.cell];
  for (const chart of section.querySelectorAll(".chart[data-panel]")) {
    const panel = Number(chart.dataset.panel);
    const top = largest(panel, equal ? all : [cell]) * 1.03;
    embed(chart.querySelector(".plot"), traceSpec(cell, panel, top));
  }
}

if (typeof vegaEmbed === "function") {
  compareCells(null);
  const sections = [...document.querySelectorAll("details.cell[data-cell]")];
  const draw = () => sections.filter((section) => section.open).forEach(drawTraces);
  for (const section of sections) section.addEventListener("toggle", () => section.open && drawTraces(section));
  document.getElementById("equal")?.addEventListener("change", draw);
  draw();
  dark.addEventListener("change", () => {
    compareCells(coloured);
    draw();
  });
}

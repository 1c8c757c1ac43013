// Sortable tables and, when the chart libraries are in the page, charts.
"use strict";

const cellValue = (row, column) => {
  const cell = row.cells[column];
  const number = cell.dataset.v;
  return number === undefined ? cell.textContent : Number(number);
};

const compare = (a, b) =>
  typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));

function sortBy(header) {
  const body = header.closest("table").tBodies[0];
  const descending = header.getAttribute("aria-sort") !== "descending";
  for (const other of header.parentNode.cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const column = header.cellIndex;
  const rows = [...body.rows].sort((a, b) => {
    const order = compare(cellValue(a, column), cellValue(b, column));
    return descending ? -order : order;
  });
  body.append(...rows);
}

for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => sortBy(button.closest("th")));
}

// A link to a flow opens its section.
function openTarget() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) target.open = true;
}
addEventListener("hashchange", openTarget);
openTarget();

const read = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "null");
const dark = matchMedia("(prefers-color-scheme: dark)");

// How the rows of each chart's data become records.
const POINTS = ["data", "retransmission", "ACK"];
const RECORDS = {
  sequence: (d) => [
    ...d.points.map(([t, seq, kind]) => ({ t, seq, what: POINTS[kind] })),
    ...d.events.map(([t, seq, what, confidence, evidence, extent, late, frame]) => ({
      t, seq, what, confidence, evidence, extent, late, frame,
    })),
  ],
  extents: (d) =>
    d.extents.map(([from, to, count]) => ({
      from: from - 0.45, to: to + 0.45, count, value: from === to ? `${from}` : `${from} to ${to}`,
    })),
  late: (d) => {
    const total = d.late.reduce((sum, row) => sum + row[1], 0);
    let seen = 0;
    return d.late.map(([ms, count]) => ({ ms: Math.max(ms, 1e-6), share: (seen += count) / total }));
  },
  rd: (d) => {
    const floor = 10 ** Math.floor(Math.log10(Math.min(...d.rd.map((row) => row[1]))) - 0.3);
    return d.rd.map(([value, density]) => ({ from: value - 0.45, to: value + 0.45, value, density, floor }));
  },
  what_if: (d) =>
    d.what_if.map(([block, coalesce, left, extent, saved, delay]) => ({ block, coalesce, left, extent, saved, delay })),
  by_rate: (d) =>
    d.by_rate.map(([rate, share, packets, extent, late]) => ({ rate, share, packets, extent, late })),
};

function theme() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axis = {
    labelColor: colour("--dim"), titleColor: colour("--dim"), domainColor: colour("--line"),
    tickColor: colour("--line"), gridColor: colour("--line"), titleFontWeight: "normal",
  };
  return {
    background: null, font: "system-ui, sans-serif", axis, view: { stroke: null },
    legend: { labelColor: colour("--ink"), titleColor: colour("--dim") },
  };
}

// Black is lost on a dark page; large marks hide each other when there are many.
function adapt(spec, events) {
  if (dark.matches) spec.encoding.color.scale.range[5] = "#f3f4f6";
  if (events > 300) Object.assign(spec.layer[2].mark, { size: 14, strokeWidth: 1, opacity: 0.6 });
}

function draw(section, specs, data) {
  const flow = data[section.dataset.flow];
  for (const chart of section.querySelectorAll(".chart[data-chart]")) {
    const name = chart.dataset.chart;
    const spec = { width: "container", height: 220, ...structuredClone(specs[name]) };
    spec.data = { values: RECORDS[name](flow) };
    spec.config = theme();
    spec.autosize = { type: "fit-x", contains: "padding" };
    if (name === "sequence") adapt(spec, flow.events.length);
    // `ast`: expressions are interpreted, so the page needs no right to evaluate code.
    const options = { ast: true, renderer: "canvas", actions: { export: true, source: false, compiled: false, editor: false } };
    vegaEmbed(chart.querySelector(".plot"), spec, options).catch((error) => {
      chart.querySelector(".plot").textContent = `The chart cannot be drawn: ${error.message}`;
    });
  }
}

if (typeof vegaEmbed === "function") {
  const specs = read("charts");
  const data = read("data");
  const sections = [...document.querySelectorAll("details.flow[data-flow]")];
  const drawn = new Set();
  const drawOnce = (section) => {
    if (!section.open || drawn.has(section)) return;
    drawn.add(section);
    draw(section, specs, data);
  };
  for (const section of sections) {
    section.addEventListener("toggle", () => drawOnce(section));
    drawOnce(section);
  }
  dark.addEventListener("change", () => {
    for (const section of drawn) draw(section, specs, data);
  });
}

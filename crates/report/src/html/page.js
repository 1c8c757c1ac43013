// What all pages share: sortable tables, sections that links open, the look of charts.
"use strict";

const cellValue = (row, column) => {
  const cell = row.cells[column];
  const text = cell.dataset.v ?? cell.textContent;
  return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
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

// A link to a section opens it.
function openTarget() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) target.open = true;
}
addEventListener("hashchange", openTarget);
openTarget();

const read = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "null");
const dark = matchMedia("(prefers-color-scheme: dark)");

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

// Draws a chart as wide as its place. `ast`: expressions are interpreted, so the page needs no right
// to evaluate code.
function embed(place, spec, actions = false) {
  const whole = { width: "container", ...spec, config: theme(), autosize: { type: "fit-x", contains: "padding" } };
  return vegaEmbed(place, whole, { ast: true, renderer: "canvas", actions }).catch((error) => {
    place.textContent = `The chart cannot be drawn: ${error.message}`;
  });
}

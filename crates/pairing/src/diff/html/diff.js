// The chart of each direction.
"use strict";

const points = read("data");
const specs = read("charts");
function draw() {
  for (const place of document.querySelectorAll("[data-chart]")) {
    const spec = structuredClone(specs.delay);
    spec.data = { values: points[Number(place.dataset.chart)] };
    embed(place, spec);
  }
}
if (points) {
  draw();
  dark.addEventListener("change", draw);
}

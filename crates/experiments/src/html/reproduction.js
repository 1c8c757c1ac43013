// The charts of each figure, as wide as their place.
"use strict";

const figures = read("data");
function draw() {
  for (const place of document.querySelectorAll("[data-figure]")) {
    const whole = figures[Number(place.dataset.figure)].spec;
    const spec = structuredClone((whole.vconcat ?? [whole])[Number(place.dataset.panel)]);
    spec.width = "container";
    // Long names leave room for what they name.
    const room = Math.round(place.clientWidth * 0.45);
    const { y, color } = spec.encoding;
    if (y?.axis) y.axis.labelLimit = Math.min(400, room);
    const columns = Math.max(1, Math.floor(place.clientWidth / 300));
    if (color) color.legend = { ...color.legend, columns, labelLimit: Math.round(place.clientWidth / columns) - 40 };
    embed(place, spec);
  }
}
if (figures) {
  draw();
  dark.addEventListener("change", draw);
}

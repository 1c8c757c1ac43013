// The charts of the flows of a capture.
"use strict";

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

// Black is lost on a dark page; large marks hide each other when there are many.
function adapt(spec, events) {
  if (dark.matches) spec.encoding.color.scale.range[5] = "#f3f4f6";
  if (events > 300) Object.assign(spec.layer[2].mark, { size: 14, strokeWidth: 1, opacity: 0.6 });
}

function draw(section, specs, data) {
  const flow = data[section.dataset.flow];
  for (const chart of section.querySelectorAll(".chart[data-chart]")) {
    const name = chart.dataset.chart;
    const spec = { height: 220, ...structuredClone(specs[name]) };
    spec.data = { values: RECORDS[name](flow) };
    if (name === "sequence") adapt(spec, flow.events.length);
    embed(chart.querySelector(".plot"), spec, { export: true, source: false, compiled: false, editor: false });
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

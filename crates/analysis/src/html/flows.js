// The charts of the flows and streams of a capture.
"use strict";

const POINTS = ["data", "retransmission", "ACK"];

// The points come as differences to the point before.
function points(p) {
  let t = 0, seq = 0;
  return [...p.kind].map((kind, at) => {
    t += p.t[at];
    seq += p.seq[at];
    return { t: t / 1e6, seq, what: POINTS[kind] };
  });
}

const events = (d) =>
  d.events.map(([t, seq, what, confidence, evidence, extent, late, frame]) => ({
    t, seq, what: all.what[what], confidence: all.confidence[confidence], evidence: all.evidence[evidence],
    extent, late, frame,
  }));

// How the rows of each chart's data become records.
const RECORDS = {
  sequence: (d) => [...points(d.points), ...events(d)],
  goodput: (d) => [
    ...d.goodput.flatMap(([t, fresh, again]) => [{ t, v: fresh, line: "new data" }, { t, v: again, line: "sent again" }]),
    ...d.recoveries.map(([t, needless]) => ({ t, mark: needless ? "unnecessary recovery" : "recovery" })),
  ],
  late: (d) => d.late.steps.map(([late, share]) => ({ late, share })),
  extents: (d) => d.extents.map(([extent, count], place) => ({ extent, count, place })),
  rd: (d) => {
    const floor = 10 ** Math.floor(Math.log10(Math.min(...d.rd.map((row) => row[1]))) - 0.3);
    return d.rd.map(([value, share]) => ({ from: value - 0.45, to: value + 0.45, value, share, floor }));
  },
  by_rate: (d) =>
    d.by_rate.map(([rate, share, packets, extent, late]) => ({ rate, share, packets, extent, late })),
};

// Late times that differ by more than this factor need a logarithmic axis.
const LOGARITHMIC = 30;

// What depends on the data.
const ADAPT = {
  sequence(spec, d) {
    // Black is lost on a dark page; large marks hide each other when there are many.
    if (dark.matches) spec.encoding.color.scale.range[5] = "#f3f4f6";
    if (d.events.length > 300) Object.assign(spec.layer[2].mark, { size: 22, strokeWidth: 1.1 });
  },
  goodput(spec, d) {
    spec.encoding.x.scale.domain = [0, d.span];
    if (d.goodput.every((row) => row[2] === 0)) spec.layer[0].encoding.color.scale = { domain: ["new data"], range: ["#4c8bd6"] };
  },
  late(spec, d) {
    const { x } = spec.encoding;
    const times = d.late.steps.map(([time]) => time).filter((time) => time > 0);
    x.title = `late by at most, ${d.late.unit}`;
    const [least, most] = [Math.min(...times), Math.max(...times)];
    if (most / least > LOGARITHMIC) {
      Object.assign(x.scale, { type: "log", domain: [least, most], clamp: true });
    } else {
      x.scale.domain = [0, most];
    }
  },
};

function draw(section, specs, data) {
  const flow = data[section.dataset.flow];
  for (const chart of section.querySelectorAll(".chart[data-chart]")) {
    const name = chart.dataset.chart;
    const spec = { height: 200, ...structuredClone(specs[name]) };
    spec.data = { values: RECORDS[name](flow) };
    ADAPT[name]?.(spec, flow);
    const place = chart.querySelector(".plot");
    const folded = chart.querySelector(".numbers");
    folded.addEventListener("toggle", () => numbers(folded, name, flow));
    const [title, says] = ["h3, h4, h5", ".says"].map((part) => chart.querySelector(part).textContent);
    spec.description = `${title}. ${says}`;
    const drawn = embed(place, spec);
    if (name === "sequence") drawn.then((result) => result && zooming(chart, result.view, flow, spec.data.values));
  }
}

// The numbers of a chart as a table, made when it is unfolded.
const COLUMNS = {
  goodput: [["from, s", "new data, Mbit/s", "sent again, Mbit/s"], (d) => d.goodput],
  late: [["late by at most", "share of late packets"], (d) => d.late.steps.map(([late, share]) => [`${late} ${d.late.unit}`, share])],
  extents: [["extent, packets", "late packets"], (d) => d.extents],
  rd: [["displacement, packets", "% of packets"], (d) => d.rd],
  by_rate: [["from Mbit/s", "share late", "packets", "mean extent", "mean late, ms"], (d) => d.by_rate],
  sequence: [
    ["time, s", "offset, bytes", "event", "confidence", "evidence", "extent", "late, ms", "frame"],
    (d) => events(d).map((e) => [e.t, e.seq, e.what, e.confidence, e.evidence, e.extent, e.late, e.frame]),
  ],
};

function numbers(place, name, flow) {
  if (place.querySelector("table")) return;
  const [titles, rows] = COLUMNS[name];
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const title of titles) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = title;
    head.append(cell);
  }
  const body = table.createTBody();
  for (const row of rows(flow)) {
    const line = body.insertRow();
    for (const value of row) line.insertCell().textContent = value ?? "-";
  }
  const box = document.createElement("div");
  box.className = "scroll";
  box.tabIndex = 0;
  box.append(table);
  place.append(box);
}

// The buttons that move the time-sequence diagram: usable by keyboard, where dragging is not.
function zooming(chart, view, flow, records) {
  const place = chart.querySelector(".zoom");
  const whole = [0, flow.span];
  let shown = whole;
  const show = (range) => {
    const width = Math.min(range[1] - range[0], whole[1]);
    const from = Math.max(0, Math.min(range[0], whole[1] - width));
    shown = [from, from + width];
    const inside = records.filter((r) => r.t >= shown[0] && r.t <= shown[1]).map((r) => r.seq);
    if (inside.length === 0) inside.push(0, 1);
    const low = inside.reduce((a, b) => Math.min(a, b)), high = inside.reduce((a, b) => Math.max(a, b));
    const margin = Math.max(1, (high - low) * 0.03);
    view.signal("zoom_t", shown).signal("zoom_seq", [low - margin, high + margin]).run();
    for (const button of place.children) {
      const range = button.range;
      if (range) button.setAttribute("aria-pressed", String(range[0] === shown[0] && range[1] === shown[1]));
    }
  };
  const by = (factor, shift) => () => {
    const middle = (shown[0] + shown[1]) / 2 + shift * (shown[1] - shown[0]);
    const half = ((shown[1] - shown[0]) / 2) * factor;
    show([middle - half, middle + half]);
  };
  const button = (label, act, range) => {
    const one = document.createElement("button");
    one.type = "button";
    one.textContent = label;
    one.range = range;
    one.addEventListener("click", act);
    place.append(one);
  };
  place.replaceChildren();
  if (flow.burst) button("Worst burst", () => show(flow.burst), flow.burst);
  button("Whole flow", () => show(whole), whole);
  button("Earlier", by(1, -0.5));
  button("Later", by(1, 0.5));
  button("Zoom in", by(0.5, 0));
  button("Zoom out", by(2, 0));
  place.hidden = false;
  show(flow.burst ?? whole);
}

const all = read("data");
if (typeof vegaEmbed === "function") {
  const specs = read("charts");
  const sections = [...document.querySelectorAll("details.flow[data-flow]")];
  const drawn = new Set();
  const drawOnce = (section) => {
    if (!section.open || drawn.has(section)) return;
    drawn.add(section);
    draw(section, specs, all.flows);
  };
  for (const section of sections) {
    section.addEventListener("toggle", () => drawOnce(section));
    drawOnce(section);
  }
  dark.addEventListener("change", () => {
    for (const section of drawn) draw(section, specs, all.flows);
  });
}

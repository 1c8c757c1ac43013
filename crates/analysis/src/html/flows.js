// The charts of the flows and streams of a capture, after time.js.

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
  goodput: (d) =>
    d.goodput.flatMap(([t, fresh, again]) => [{ t, v: fresh, line: "new data" }, { t, v: again, line: "sent again" }]),
  when: ({ when }) =>
    when.counts.flatMap((row, what) =>
      row.map(([bin, count]) => {
        const t = when.from + bin * when.width;
        return { t, until: t + when.width, what: all.when[what], count };
      })),
  late: (d) => d.late.steps.map(([late, share]) => ({ late, share })),
  extents: (d) => d.extents.map(([extent, count], place) => ({ extent, count, place })),
  rd: (d) => {
    const floor = 10 ** Math.floor(Math.log10(Math.min(...d.rd.map((row) => row[1]))) - 0.3);
    return d.rd.map(([value, share]) => ({ from: value - 0.45, to: value + 0.45, value, share, floor }));
  },
  by_rate: (d) =>
    d.by_rate.map(([rate, share, packets, extent, late]) => ({ rate, share, packets, extent, late })),
};

// Charts over time are below each other: where there is room, time begins at the same place in all of them.
function alike(spec) {
  const { y } = spec.encoding;
  // A title takes room of its own.
  if (innerWidth > 600) y.axis.minExtent = y.title === null ? 84 : 76;
}

// Late times that differ by more than this factor need a logarithmic axis.
const LOGARITHMIC = 30;

// What depends on the data.
const ADAPT = {
  sequence(spec, d) {
    // Large marks hide each other when there are many.
    if (d.events.length > 300) Object.assign(spec.layer[2].mark, { size: 22, strokeWidth: 1.1 });
  },
  goodput(spec, d) {
    spec.encoding.x.scale.domain = d.whole;
    alike(spec);
  },
  when(spec, d) {
    spec.encoding.x.scale.domain = d.whole;
    spec.encoding.y.scale.domain = all.when.filter((_, at) => d.when.counts[at].length > 0);
    alike(spec);
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
  const time = new Time(section, flow);
  for (const chart of section.querySelectorAll(".chart[data-chart]")) {
    const name = chart.dataset.chart;
    const folded = chart.querySelector(".numbers");
    folded.addEventListener("toggle", () => numbers(folded, name, flow));
    if (name === "limits") {
      time.band = new Band(chart, flow, time);
      continue;
    }
    const spec = { height: 200, ...structuredClone(specs[name]) };
    spec.data = { values: RECORDS[name](flow) };
    ADAPT[name]?.(spec, flow);
    if (spec.encoding.color?.scale) visible(spec.encoding.color.scale);
    key(chart, spec, spec.data.values);
    const [title, says] = ["h3, h4, h5", ".says"].map((part) => chart.querySelector(part).textContent);
    spec.description = `${title}. ${says}`;
    const drawn = embed(chart.querySelector(".plot"), spec);
    if (OVER_TIME.includes(name)) drawn.then((result) => result && time.has(name, result.view, spec.data.values));
  }
  time.buttons();
}

// The numbers of a chart as a table, made when it is unfolded.
const COLUMNS = {
  limits: [
    ["from, s", "to, s", "limit"],
    ({ band }) => band.ends.map(([to, set], at) => [band.ends[at - 1]?.[0] ?? band.from, to, setName(band.sets[set])]),
  ],
  when: [["from, s", "to, s", "what", "count"], (d) => RECORDS.when(d).map((r) => [r.t, r.until, r.what, r.count])],
  goodput: [["from, s", "new data, Mbit/s", "sent again, Mbit/s"], (d) => d.goodput],
  late: [["late by at most", "share of late packets"], (d) => d.late.steps.map(([late, share]) => [`${late} ${d.late.unit}`, share])],
  extents: [["extent, packets", "late packets"], (d) => d.extents],
  rd: [["displacement, packets", "% of packets"], (d) => d.rd],
  by_rate: [["from Mbit/s", "share late", "packets", "mean extent", "mean late, ms"], (d) => d.by_rate],
  sequence: [
    ["time, s", "offset, bytes", "event", "confidence", "evidence or cause", "extent", "late, ms", "frame"],
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

if (typeof vegaEmbed === "function") {
  const specs = read("charts");
  const sections = [...document.querySelectorAll("details.flow[data-flow]")];
  const drawn = new Set();
  // Charts are made when their section is seen for the first time; one in a folded capture is not.
  const drawOnce = (section) => {
    if (!section.open || drawn.has(section) || section.closest("details.capture:not([open])")) return;
    drawn.add(section);
    draw(section, specs, all.flows);
  };
  for (const section of sections) {
    section.addEventListener("toggle", () => drawOnce(section));
    drawOnce(section);
  }
  for (const capture of document.querySelectorAll("details.capture")) {
    capture.addEventListener("toggle", () => sections.filter((one) => capture.contains(one)).forEach(drawOnce));
  }
  dark.addEventListener("change", () => {
    for (const section of drawn) draw(section, specs, all.flows);
  });
}

// What the charts over time of a flow share: legends, the stretch that all of them show, the band of limits.
"use strict";

const all = read("data");

// Black is lost on a dark page.
function visible(scale) {
  scale.range = scale.range.map((colour) => (dark.matches && colour === "#111827" ? "#f3f4f6" : colour));
}

const GLYPHS = { circle: "○", diamond: "◇", cross: "✚", square: "□", "triangle-up": "△", "triangle-down": "▽" };

// The legend of what occurs, as text that wraps: one in the chart would be cut where it is narrow.
function key(chart, spec, records) {
  const { color } = spec.encoding;
  if (!color?.field || color.legend === null) return;
  color.legend = null;
  const { domain, range } = color.scale;
  const shapes = spec.layer?.[2].encoding.shape.scale;
  const place = chart.querySelector(".key");
  const found = domain.map((name, at) => [name, at]).filter(([name]) => records.some((r) => r[color.field] === name));
  place.replaceChildren(...found.map(([name, at]) => {
    const shape = shapes?.range[shapes.domain.indexOf(name)];
    return entry(document.createElement("li"), range[at], name, GLYPHS[shape] ?? (shapes ? "●" : "▬"));
  }));
  place.hidden = found.length === 0;
}

function entry(one, colour, name, glyph) {
  const mark = document.createElement("i");
  mark.ariaHidden = "true";
  if (glyph) Object.assign(mark, { textContent: glyph, style: `color: ${colour}` });
  else Object.assign(mark, { className: "swatch", style: `background: ${colour}` });
  one.append(mark, name);
  return one;
}

const OVER_TIME = ["goodput", "when", "sequence"];
// Fewer steps of goodput or intervals of counts than this show no course.
const MIN_STEPS = 12;

// The stretch of time that all charts over time show.
class Time {
  constructor(section, flow) {
    Object.assign(this, { section, flow, views: {}, shown: flow.whole });
  }

  has(name, view, records) {
    this.views[name] = { view, records };
    if (name === "sequence") {
      this.showIn(name, this.flow.burst ?? this.flow.whole);
      this.tell();
    }
    if (name === "goodput") {
      this.band?.align(view);
      view.addSignalListener("width", () => this.band?.align(view));
    }
  }

  show([from, until]) {
    const { whole } = this.flow;
    const width = Math.min(until - from, whole[1] - whole[0]);
    const start = Math.max(whole[0], Math.min(from, whole[1] - width));
    this.shown = [start, start + width];
    for (const name of Object.keys(this.views)) this.showIn(name, this.shown);
    this.tell();
  }

  // Which stretch is shown, on the band and on the buttons.
  tell() {
    this.band?.mark(this.shown);
    for (const button of this.section.querySelectorAll(".zoom button")) {
      const { range } = button;
      if (range) button.setAttribute("aria-pressed", String(range[0] === this.shown[0] && range[1] === this.shown[1]));
    }
  }

  showIn(name, range) {
    const { view, records } = this.views[name];
    if (name !== "sequence") {
      view.signal("zoom_t", this.wider(range)).run();
      return;
    }
    this.shown = range;
    const inside = records.filter((r) => r.t >= range[0] && r.t <= range[1]).map((r) => r.seq);
    if (inside.length === 0) inside.push(0, 1);
    const low = inside.reduce((a, b) => Math.min(a, b)), high = inside.reduce((a, b) => Math.max(a, b));
    const margin = Math.max(1, (high - low) * 0.03);
    view.signal("zoom_t", range).signal("zoom_seq", [low - margin, high + margin]).run();
  }

  // What is counted in intervals shows some of them.
  wider(range) {
    const { when, goodput, whole } = this.flow;
    const step = Math.max(when.width, goodput.length > 1 ? goodput[1][0] - goodput[0][0] : 0);
    const width = Math.min(Math.max(range[1] - range[0], MIN_STEPS * step), whole[1] - whole[0]);
    const middle = (range[0] + range[1]) / 2;
    const start = Math.max(whole[0], Math.min(middle - width / 2, whole[1] - width));
    return [start, start + width];
  }

  // Usable by keyboard, where dragging is not.
  buttons() {
    const place = this.section.querySelector(".zoom");
    if (!place) return;
    const button = (label, act, range) => {
      const one = document.createElement("button");
      Object.assign(one, { type: "button", textContent: label, range });
      one.addEventListener("click", act);
      place.append(one);
    };
    const { burst, whole, band } = this.flow;
    const to = (label, range) => button(label, () => this.show(range), range);
    const by = (factor, shift) => () => {
      const middle = (this.shown[0] + this.shown[1]) / 2 + shift * (this.shown[1] - this.shown[0]);
      const half = ((this.shown[1] - this.shown[0]) / 2) * factor;
      this.show([middle - half, middle + half]);
    };
    place.replaceChildren();
    if (band.worst !== null) to(`Longest: ${setName(band.sets[band.ends[band.worst][1]])}`, stretch(band, band.worst));
    if (burst) to("Worst burst", burst);
    to("Whole flow", whole);
    button("Earlier", by(1, -0.5));
    button("Later", by(1, 0.5));
    button("Zoom in", by(0.5, 0));
    button("Zoom out", by(2, 0));
    place.hidden = false;
  }
}

const setName = (set) => set.map((limit) => all.limits[limit][1]).join(" or ") || "unknown";
const stretch = (band, at) => [band.ends[at - 1]?.[0] ?? band.from, band.ends[at][0]];
const figure = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });

// A set of limits that cannot be told apart has stripes of their colours.
function limitColour(set) {
  const colours = set.map((limit) => `var(--limit-${all.limits[limit][0]})`);
  if (colours.length < 2) return colours[0] ?? "var(--limit-unknown)";
  const stripes = colours.map((colour, at) => `${colour} ${at * 5}px ${at * 5 + 5}px`);
  return `repeating-linear-gradient(135deg, ${stripes.join(", ")})`;
}

// What limited a flow over time: a button for each stretch, which moves the charts there.
class Band {
  constructor(chart, flow, time) {
    Object.assign(this, { flow, time });
    const { band } = flow;
    this.place = document.createElement("div");
    Object.assign(this.place, { className: "band", role: "group", ariaLabel: "Limits over time; arrow keys choose a stretch" });
    this.stretches = band.ends.map((_, at) => this.stretch(at));
    this.frame = document.createElement("div");
    this.frame.className = "frame";
    this.place.append(...this.stretches, this.frame);
    this.stretches[band.worst ?? 0].tabIndex = 0;
    this.place.addEventListener("keydown", (event) => this.walk(event));
    chart.querySelector(".plot").replaceChildren(this.place);
    this.legend(chart.querySelector(".key"));
  }

  share(seconds) {
    const [from, until] = this.flow.whole;
    return (100 * (seconds - from)) / (until - from);
  }

  stretch(at) {
    const { band } = this.flow;
    const [from, until] = stretch(band, at);
    const set = band.sets[band.ends[at][1]];
    const one = document.createElement("button");
    const says = `${setName(set)}: ${figure.format(until - from)} s, from ${figure.format(from)} s on`;
    Object.assign(one, { type: "button", tabIndex: -1, title: says, ariaLabel: says });
    Object.assign(one.style, {
      left: `${this.share(from)}%`, width: `${this.share(until) - this.share(from)}%`, background: limitColour(set),
      // Short stretches are drawn above long ones, which are wide enough without the covered edge.
      zIndex: until - from < (this.flow.whole[1] - this.flow.whole[0]) / 200 ? 1 : 0,
    });
    one.addEventListener("click", () => this.time.show([from, until]));
    return one;
  }

  walk(event) {
    const at = this.stretches.indexOf(event.target);
    const last = this.stretches.length - 1;
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const next = this.stretches[Math.max(0, Math.min(to, last))];
    this.stretches[at].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  // What occurs, each a button to its longest stretch.
  legend(place) {
    const { band } = this.flow;
    const longest = (set) =>
      band.ends.map((_, at) => at).filter((at) => band.ends[at][1] === set)
        .reduce((a, b) => (a !== undefined && length(a) >= length(b) ? a : b), undefined);
    const length = (at) => stretch(band, at)[1] - stretch(band, at)[0];
    place.replaceChildren(...band.sets.map((set, number) => {
      const item = document.createElement("li");
      const at = longest(number);
      const one = document.createElement(at === undefined ? "span" : "button");
      entry(one, limitColour(set), `${setName(set)} ${percent.format(band.shares[number])}`);
      if (at !== undefined) {
        Object.assign(one, { type: "button", title: `To its longest stretch, ${figure.format(length(at))} s` });
        one.addEventListener("click", () => this.time.show(stretch(band, at)));
      }
      item.append(one);
      return item;
    }));
    place.hidden = false;
  }

  // Begins and ends where the chart of goodput does.
  align(view) {
    const left = view.origin()[0] + view.padding().left;
    Object.assign(this.place.style, { marginLeft: `${left}px`, width: `${view.width()}px` });
  }

  mark([from, until]) {
    Object.assign(this.frame.style, { left: `${this.share(from)}%`, width: `${this.share(until) - this.share(from)}%` });
  }
}

const percent = new Intl.NumberFormat("en", { style: "percent", maximumSignificantDigits: 2 });

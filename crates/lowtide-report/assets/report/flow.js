// Runs over time: panels under each other with one time axis.
import { data, decode, decodeCounts, shown, element } from "./decode.js";
import { theme, colour, swatch } from "./look.js";
import { chart, remove } from "./chart.js";
import { lanesOf, flowName } from "./lanes.js";
import { strip } from "./strip.js";

const KINDS = [
  { key: "delivered", label: "delivery rate", on: true, dash: "solid" },
  { key: "sent", label: "sending rate", on: false, dash: "dotted" },
  { key: "estimate", label: "estimate", on: true, dash: "dashed" },
  { key: "cwnd", label: "cwnd", on: true, dash: "dashed" },
  { key: "inflight", label: "in flight", on: true, dash: "solid" },
  { key: "envelope", label: "envelopes", on: true },
  { key: "filter", label: "filter internals", on: false },
];
// Lines shown at first; more are a click away.
const FIRST_SHOWN = 3;

// `chosen`: the reader has chosen lines.
const flowView = { link: null, subject: "all", chosen: false, lanes: [], kinds: new Set(KINDS.filter((k) => k.on).map((k) => k.key)), plots: [], window: null };

function kindDash(key) {
  return KINDS.find((kind) => kind.key === key).dash;
}

// A line's data: of all flows together, or of one.
function laneOf(entry, flow, tracks, label, index, frame) {
  return { entry, flow, tracks, label, index, frame, shown: false,
           counts: { lost: decodeCounts(flow.lost), resent: decodeCounts(flow.resent), timeouts: decodeCounts(flow.timeouts) } };
}

// All controllers, or the flows of one.
function lanesToShow(link, subject) {
  if (subject === "all") {
    const lanes = lanesOf(link).filter((lane) => lane.entry.time).map(({ entry, index, frame, label }) => {
      const { total, flows } = entry.time;
      return laneOf(entry, total ?? flows[0], flows[0], label, index, frame);
    });
    lanes.filter((lane) => !lane.frame).slice(0, FIRST_SHOWN).forEach((lane) => { lane.shown = true; });
    if (!lanes.some((lane) => lane.shown)) lanes.forEach((lane) => { lane.shown = true; });
    return lanes;
  }
  const entry = link.entries[subject];
  return entry.time.flows.map((flow, index) => {
    const lane = laneOf(entry, flow, flow, flowName(entry, index), index, false);
    lane.shown = true;
    return lane;
  });
}

export function setUpFlow(link, keeps = false) {
  keeps = keeps && flowView.link?.name === link.name && flowView.link.duration === link.duration;
  const before = keeps ? nameOfSubject(flowView.link) : null;
  flowView.link = link;
  if (!keeps) [flowView.window, flowView.chosen] = [null, false];
  const section = document.getElementById("flow");
  const timed = link.entries.map((entry, at) => ({ entry, at })).filter(({ entry }) => entry.time);
  section.hidden = !timed.length || !link.bin;
  if (section.hidden) return;
  const select = document.getElementById("subject");
  select.replaceChildren(element("option", { value: "all" }, "controllers, all flows together"));
  for (const { entry, at } of timed) {
    select.append(element("option", { value: at }, `the flows of ${entry.name}`));
  }
  document.getElementById("subject-choice").hidden = link.flows < 2;
  select.onchange = () => chooseSubject(select.value);
  // Flows that differ are what the reader wants to see.
  const mixed = timed.find(({ entry }) => entry.role === "contender" && entry.flows.length);
  const same = timed.find(({ entry }) => entry.name === before);
  const first = same ? String(same.at) : mixed && before === null ? String(mixed.at) : "all";
  select.value = first;
  chooseSubject(first, keeps && flowView.chosen);
}

// The controller whose flows are shown; "all": all controllers.
function nameOfSubject(link) {
  return link.entries[flowView.subject]?.name ?? "all";
}

function chooseSubject(subject, keeps = false) {
  const before = new Map(flowView.lanes.map((lane) => [lane.label, lane.shown]));
  flowView.subject = subject;
  flowView.lanes = lanesToShow(flowView.link, subject);
  if (keeps) for (const lane of flowView.lanes) lane.shown = before.get(lane.label) ?? false;
  const kept = flowView.lanes[0].entry.time.flows.length;
  document.getElementById("flow-note").textContent =
    `Seed ${flowView.link.seed}. Shaded: what the link could carry. Rates: means over ${shown(Math.max(data.rate_window_ms, flowView.link.bin * 1000))} ms. `
    + `All else: the largest value in each ${shown(flowView.link.bin * 1000)} ms, its envelope down to the smallest. `
    + (flowView.link.flows > 1 && subject === "all" ? "Windows, data in flight and estimates are summed over the flows; phases are the first flow's. " : "")
    + (flowView.lanes[0].entry.flows.length ? "A flow's start and end are marked by a line of its colour. " : "")
    + (kept < flowView.link.flows ? `Only the first ${kept} flows are kept one by one. ` : "")
    + "Click a name to hide or show it everywhere. Drag or spread two fingers to zoom all, double-click to return.";
  drawChips();
  drawPanels();
}

function chip(text, pressed, toggle, picture) {
  const button = element("button", { type: "button", "aria-pressed": pressed }, ...(picture ? [picture] : []), text);
  button.onclick = () => {
    toggle();
    drawChips();
    drawPanels();
  };
  return button;
}

export function drawChips() {
  document.getElementById("lanes").replaceChildren(...flowView.lanes.map((lane) => (
    chip(lane.label, lane.shown, () => { lane.shown = !lane.shown; flowView.chosen = true; }, swatch(lane)))));
  const hasFilter = flowView.lanes.some((lane) => lane.tracks.filter);
  document.getElementById("kinds").replaceChildren(...KINDS
    .filter((kind) => kind.key !== "filter" || hasFilter)
    .map(({ key, label }) => chip(label, flowView.kinds.has(key), () => {
      if (!flowView.kinds.delete(key)) flowView.kinds.add(key);
    })));
}

// A line of the largest values, with the envelope down to the smallest where that is wanted.
function bandLine(lane, band, label, extra = {}) {
  return { label, lane, values: decode(band.hi), lo: flowView.kinds.has("envelope") ? decode(band.lo) : undefined, ...extra };
}

function rateLines(link, lanes) {
  const { kinds } = flowView, lines = [];
  if (link.capacity) {
    lines.push({ label: "capacity", values: decode(link.capacity), stroke: () => theme().capacityEdge,
                 width: 0.75, fill: () => theme().capacity });
  }
  for (const lane of lanes) {
    const { flow, label } = lane;
    if (kinds.has("sent")) lines.push({ label: `${label} sent`, lane, values: decode(flow.sent), dash: kindDash("sent") });
    if (kinds.has("estimate") && flow.bandwidth) {
      lines.push(bandLine(lane, flow.bandwidth, `${label} estimate`, { dash: kindDash("estimate") }));
    }
    if (kinds.has("delivered")) lines.push({ label, lane, values: decode(flow.delivered), marked: true });
  }
  return lines;
}

function windowLines(lanes) {
  const { kinds } = flowView, lines = [];
  for (const lane of lanes) {
    const { flow, label } = lane;
    if (kinds.has("cwnd") && flow.cwnd) {
      lines.push({ label: `${label} cwnd`, lane, values: decode(flow.cwnd.hi), dash: kindDash("cwnd") });
    }
    if (kinds.has("inflight") && flow.inflight) lines.push(bandLine(lane, flow.inflight, `${label} in flight`, { marked: true }));
  }
  return lines;
}

// Lines of the queue: one for each run, whichever of its flows are shown.
function queueLines(lanes, get) {
  const seen = new Set();
  return lanes.filter((lane) => !seen.has(lane.entry) && seen.add(lane.entry)).flatMap((lane) => {
    const band = get(lane.entry.time);
    return band ? [bandLine(lane, band, lane.entry.name, { marked: true })] : [];
  });
}

function filterLines(lanes, get, suffix, extra) {
  return lanes.flatMap((lane) => {
    const band = lane.tracks.filter && get(lane.tracks.filter);
    return band ? [bandLine(lane, band, `${lane.label} ${suffix}`, extra)] : [];
  });
}

function panelsToDraw(link, lanes) {
  const rtt = lanes.flatMap((lane) => (lane.flow.rtt ? [bandLine(lane, lane.flow.rtt, lane.label, { marked: true })] : []));
  const panels = [
    { id: "rate", title: "Rate", yLabel: "Mbit/s", lines: rateLines(link, lanes), height: 260 },
    { id: "rtt", title: "RTT", yLabel: "ms", yLog: true, lines: rtt },
    { id: "sojourn", title: "Queueing delay at the bottleneck", yLabel: "ms", lines: queueLines(lanes, (t) => t.sojourn) },
    { id: "queue", title: "Queue", yLabel: "kB", lines: queueLines(lanes, (t) => t.queue), height: 180 },
    { id: "window", title: "Window and data in flight", yLabel: "kB", lines: windowLines(lanes) },
  ];
  if (flowView.kinds.has("filter")) {
    panels.push(
      { id: "gain", title: "Filter: Kalman gain K", yLabel: "K", lines: filterLines(lanes, (f) => f.gain, "K", { marked: true }), height: 180 },
      { id: "innovation", title: "Filter: innovation", yLabel: "Mbit/s", lines: filterLines(lanes, (f) => f.innovation, "innovation", { marked: true }) },
      { id: "noise", title: "Filter: noise, √Q and √R", yLabel: "Mbit/s", lines: [
        ...filterLines(lanes, (f) => f.process, "√Q", { dash: "dashed" }),
        ...filterLines(lanes, (f) => f.measurement, "√R", { marked: true })] });
  }
  return panels.filter((panel) => panel.lines.length || panel.id === "rate");
}

export function drawPanels() {
  const { link } = flowView;
  flowView.plots.forEach(remove);
  flowView.plots = [];
  const lanes = flowView.lanes.filter((lane) => lane.shown);
  const bins = decode((flowView.lanes[0].flow).delivered).length;
  const xs = Array.from({ length: bins }, (_, n) => (n + 0.5) * link.bin);
  const host = document.getElementById("panels");
  const common = { xLabel: "time, s", key: "time", onZoom: zoomTo, window: flowView.window };
  const hosts = [];
  const place = (id, title) => {
    const panel = element("div", { className: "panel", id: `panel-${id}` });
    hosts.push(element("h3", {}, title), panel);
    return panel;
  };
  const panels = panelsToDraw(link, lanes).map((panel) => ({ ...panel, host: place(panel.id, panel.title) }));
  const phases = lanes.length ? place("phases", "Phases, filter modes and losses") : null;
  host.replaceChildren(...hosts);
  const draw = (u) => drawLives(u, lanes);
  for (const panel of panels) {
    flowView.plots.push(chart(panel.host, xs, panel.lines, { ...common, draw, ...panel, height: panel.height ?? 220 }));
  }
  if (phases) flowView.plots.push(strip(phases, lanes, link, { ...common, xs }));
  showRange();
}

// When flows that differ start and end, where that is not with the run.
function drawLives(u, lanes) {
  const { ctx, bbox } = u, ratio = devicePixelRatio || 1;
  ctx.save();
  ctx.lineWidth = ratio;
  ctx.setLineDash([2 * ratio, 3 * ratio]);
  for (const lane of lanes) {
    const life = lane.flow === lane.tracks ? lane.entry.flows[lane.index] : null;
    for (const at of life ? [life.start, life.end] : []) {
      const x = u.valToPos(at, "x", true);
      const isEnd = at <= 0 || at >= flowView.link.duration;
      if (isEnd || x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.strokeStyle = colour(lane);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
  }
  ctx.restore();
}

// All panels show the same stretch of time.
let zooming = false;
export function zoomTo(min, max) {
  if (zooming || !flowView.link) return;
  zooming = true;
  const all = min <= flowView.link.bin && max >= flowView.link.duration - flowView.link.bin;
  flowView.window = all ? null : [min, max];
  for (const plot of flowView.plots) {
    if (plot.scales.x.min !== min || plot.scales.x.max !== max) plot.setScale("x", { min, max });
  }
  zooming = false;
  showRange();
}

function showRange() {
  const [from, to] = flowView.window ?? [0, flowView.link.duration];
  document.getElementById("range").textContent = `${shown(from)} – ${shown(to)} s`;
}

for (const button of document.querySelectorAll("[data-zoom]")) {
  button.onclick = () => {
    const { duration, bin } = flowView.link;
    const ends = [bin / 2, duration - bin / 2];
    const [from, to] = flowView.window ?? ends;
    const span = to - from, middle = (from + to) / 2;
    const [centre, wanted] = {
      in: [middle, span / 2], out: [middle, span * 2], left: [middle - span / 2, span],
      right: [middle + span / 2, span], all: [duration / 2, duration],
    }[button.dataset.zoom];
    const width = Math.min(Math.max(wanted, 4 * bin), ends[1] - ends[0]);
    const start = Math.min(Math.max(centre - width / 2, ends[0]), ends[1] - width);
    zoomTo(start, start + width);
  };
}

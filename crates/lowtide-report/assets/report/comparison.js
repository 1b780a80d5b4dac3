// Controllers against each other: throughput and delay, distributions, fairness.
import { decode, shown, element } from "./decode.js";
import { theme, colour, shape, mark } from "./look.js";
import { LOG_AXIS, logSplits, chart, remove } from "./chart.js";
import { lanesOf, flowName } from "./lanes.js";
import { zoomTo } from "./flow.js";

let comparisonCharts = [];
const planeView = { whole: false };

// The flows of an entry as lines.
function flowLanes(entry) {
  return entry.flows.map((flow, index) => ({ entry, frame: false, index, label: flow.name }));
}

// The entry whose flows have different controllers, if there is no other controller: they are then
// what is compared.
function mixedEntry(link) {
  const contenders = link.entries.filter((entry) => entry.role === "contender");
  return contenders.length === 1 && contenders[0].flows.length ? contenders[0] : null;
}

export function drawComparison(link) {
  comparisonCharts.forEach(remove);
  comparisonCharts = [];
  const lanes = lanesOf(link);
  drawPlane(link, lanes.filter((lane) => lane.entry.role !== "floor" && lane.entry.seeds.length));
  drawCdf("rtt-cdf", lanes, (entry) => entry.rtt, "RTT, ms");
  drawCdf("delay-cdf", lanes, (entry) => entry.queueing, "queueing delay, ms");
  drawFairness(link, lanes);
}

export function mean(values) {
  return values.reduce((a, b) => a + b, 0) / values.length;
}

// What stands in the plane: a mark a controller, or a mark a flow where the flows differ.
function planeMarks(link, lanes) {
  const marks = lanes.map((lane) => ({
    lane, name: lane.entry.name, seeds: lane.entry.seeds,
    at: [mean(lane.entry.seeds.map((s) => s[0])), mean(lane.entry.seeds.map((s) => s[1]))],
  }));
  const mixed = mixedEntry(link);
  if (!mixed) return marks;
  const together = marks.map((m) => (m.lane.entry === mixed ? { ...m, name: "all flows", lane: { ...m.lane, frame: true } } : m));
  return together.concat(flowLanes(mixed).flatMap((lane, n) => {
    const at = mixed.flows[n].place;
    return at ? [{ lane, name: lane.label, seeds: [at], at }] : [];
  }));
}

// Where the plane's axis of delays is broken: `end` of the axis proper, `middle` of the strip for what
// lies beyond, `stop` of it all.
function axisBreak(least, at) {
  const span = at / least;
  return { end: at * span ** 0.06, middle: at * span ** 0.13, stop: at * span ** 0.2 };
}

// Throughput against delay. The ellipse spans one standard deviation of the seeds each way along
// their principal axes.
function drawPlane(link, lanes) {
  const host = document.getElementById("plane");
  const marks = planeMarks(link, lanes);
  const least = marks.concat(link.windows.map((w) => ({ seeds: [[w.delay, w.rate]] })))
    .flatMap((m) => m.seeds.map((s) => s[0])).reduce((a, b) => Math.min(a, b), Infinity);
  const broken = link.broken_at && !planeView.whole ? axisBreak(least, link.broken_at) : null;
  const isBeyond = (delay) => broken && delay > broken.end;
  const points = marks.flatMap((m) => m.seeds).concat(link.windows.map((w) => [w.delay, w.rate])).filter((p) => !isBeyond(p[0]));
  const note = document.getElementById("plane-note");
  note.textContent = "Towards the upper left is better: one mark for each "
    + (mixedEntry(link) ? "flow, grey: all together" : "controller")
    + (link.seeds > 1 ? " at the mean of its seeds (dots), ellipse: one standard deviation" : "")
    + (link.windows.length ? ". The grey curve joins constant windows of rising size, the frontier to beat" : "")
    + (broken ? ". The axis of delays is broken: what lies beyond stands right of the dashed line with its delay" : "")
    + ". Drag to zoom, double-click to return. ";
  if (link.broken_at) {
    const button = element("button", { type: "button", className: "link" }, broken ? "Show the whole axis" : "Break the axis");
    button.onclick = () => { planeView.whole = !planeView.whole; drawComparison(link); };
    note.append(button);
  }
  if (!points.length) { host.replaceChildren("No samples."); return; }
  const curve = link.windows.filter((w) => !isBeyond(w.delay));
  const sorted = points.slice().sort((a, b) => a[0] - b[0]);
  const xs = sorted.map((p) => p[0]);
  const rates = points.concat(marks.map((m) => m.at)).map((p) => p[1]);
  // Where the controllers are close together, the axis does not begin at zero.
  const lowest = marks.flatMap((m) => m.seeds).map((p) => p[1]).reduce((a, b) => Math.min(a, b), Infinity);
  const most = rates.reduce((a, b) => Math.max(a, b), 0);
  const room = Math.max(most - lowest, most * 0.05) * 0.3;
  const [bottom, top] = [lowest > 0.5 * most ? lowest - room : 0, most + Math.min(room, most * 0.1) || 1];
  const draw = (u) => {
    const { ctx, bbox } = u, ratio = devicePixelRatio || 1;
    const strip = broken && !u.zoomed;
    const x = (v) => u.valToPos(strip && isBeyond(v) ? broken.middle : v, "x", true), y = (v) => u.valToPos(v, "y", true);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.strokeStyle = ctx.fillStyle = theme().quiet;
    ctx.lineWidth = 1.2 * ratio;
    if (strip) {
      ctx.setLineDash([4 * ratio, 4 * ratio]);
      ctx.beginPath();
      ctx.moveTo(x(broken.end), bbox.top);
      ctx.lineTo(x(broken.end), bbox.top + bbox.height);
      ctx.stroke();
      ctx.setLineDash([]);
    }
    ctx.beginPath();
    curve.forEach((w, n) => ctx[n ? "lineTo" : "moveTo"](x(w.delay), y(w.rate)));
    ctx.stroke();
    for (const w of curve) mark(ctx, "ring", x(w.delay), y(w.rate), 2.5 * ratio);
    // Names keep clear of all marks, drawn already or not.
    const half = 8 * ratio;
    const around = (px, py, r) => [px - r, py - r, px + r, py + r];
    const taken = marks.map((m) => around(x(m.at[0]), y(m.at[1]), half))
      .concat(curve.map((w) => around(x(w.delay), y(w.rate), 3 * ratio)));
    for (const { lane, seeds, at } of marks) {
      ctx.strokeStyle = ctx.fillStyle = colour(lane);
      if (seeds.length > 1) {
        const placed = seeds.map(([delay, rate]) => [x(delay), y(rate)]);
        ctx.globalAlpha = 0.55;
        for (const [sx, sy] of placed) mark(ctx, "circle", sx, sy, 1.8 * ratio);
        ctx.globalAlpha = 1;
        if (!(strip && isBeyond(at[0]))) ellipse(ctx, placed);
      }
      ctx.lineWidth = 2 * ratio;
      mark(ctx, shape(lane), x(at[0]), y(at[1]), 6.5 * ratio);
    }
    for (const { lane, name, at } of marks) {
      ctx.strokeStyle = ctx.fillStyle = colour(lane);
      const text = strip && isBeyond(at[0]) ? `${name} ${shown(at[0])} ms` : name;
      label(ctx, text, [x(at[0]), y(at[1])], bbox, ratio, taken);
    }
    ctx.restore();
  };
  const plot = chart(host, xs, [{ label: "", values: sorted.map((p) => p[1]), width: 0, stroke: () => "transparent" }], {
    xLabel: "95th percentile of the RTT, ms", yLabel: "throughput, Mbit/s", xLog: true, zoomsBoth: true,
    height: 420, legend: false, draw,
    xAxis: { ...LOG_AXIS, splits: (u, at, low, high) => logSplits(u, at, low, broken && !u.zoomed ? Math.min(high, broken.end) : high) },
    xRange: (u, low, high) => (u.zoomed ? [low, high] : [least / 1.1, broken ? broken.stop : Math.max(xs[xs.length - 1] * 1.15, least * 1.3)]),
    yRange: (u, low, high) => (u.zoomed ? [low, high] : [bottom, top]),
  });
  plot.over.addEventListener("mouseup", () => { plot.zoomed = true; });
  plot.over.addEventListener("dblclick", () => { plot.zoomed = false; });
  comparisonCharts.push(plot);
}

function ellipse(ctx, points) {
  const cx = mean(points.map((p) => p[0])), cy = mean(points.map((p) => p[1]));
  const n = points.length - 1;
  let xx = 0, yy = 0, xy = 0;
  for (const [px, py] of points) {
    xx += (px - cx) ** 2 / n; yy += (py - cy) ** 2 / n; xy += ((px - cx) * (py - cy)) / n;
  }
  const middle = (xx + yy) / 2, spread = Math.hypot((xx - yy) / 2, xy);
  const angle = Math.atan2(2 * xy, xx - yy) / 2;
  ctx.beginPath();
  ctx.ellipse(cx, cy, Math.sqrt(middle + spread), Math.sqrt(Math.max(middle - spread, 0)), angle, 0, 7);
  ctx.stroke();
  ctx.globalAlpha = 0.12;
  ctx.fill();
  ctx.globalAlpha = 1;
}

// A name beside its mark, where it covers neither a mark nor another name; further off, at the end of
// a line, where there is no such place beside it.
function label(ctx, text, [x, y], bbox, ratio, taken) {
  ctx.font = `${12 * ratio}px system-ui, sans-serif`;
  const width = ctx.measureText(text).width, height = 14 * ratio;
  const box = ([dx, dy]) => [x + dx, y + dy - height / 2, x + dx + width, y + dy + height / 2];
  const around = (gap) => [[gap, 0], [-gap - width, 0], [-width / 2, -gap - height / 2], [-width / 2, gap + height / 2],
    [gap, -gap], [gap, gap], [-gap - width, -gap], [-gap - width, gap]];
  const cover = (b) => taken.filter((t) => b[0] < t[2] && b[2] > t[0] && b[1] < t[3] && b[3] > t[1]).length;
  const inside = (b) => b[0] >= bbox.left && b[2] <= bbox.left + bbox.width && b[1] >= bbox.top && b[3] <= bbox.top + bbox.height;
  const places = [10, 24, 38, 52, 66, 80].flatMap((gap) => around(gap * ratio).map((place) => ({ place, gap })));
  const within = places.filter(({ place }) => inside(box(place)));
  const best = within.find(({ place }) => !cover(box(place)))
    ?? within.sort((a, b) => cover(box(a.place)) - cover(box(b.place)))[0] ?? places[0];
  const [dx, dy] = best.place, placed = box(best.place);
  if (best.gap > 10) {
    ctx.lineWidth = 0.75 * ratio;
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(Math.min(Math.max(x, placed[0]), placed[2]), Math.min(Math.max(y, placed[1]), placed[3]));
    ctx.stroke();
  }
  taken.push(placed);
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.fillText(text, x + dx, y + dy);
}

// Share of samples up to each of the common values of x.
function drawCdf(id, lanes, get, xLabel) {
  const host = document.getElementById(id);
  const drawn = lanes.filter((lane) => get(lane.entry).length);
  const all = drawn.flatMap((lane) => get(lane.entry).map((p) => p[0])).filter((v) => v > 0);
  if (!all.length) { host.replaceChildren("No samples."); return; }
  // Below a tenth of a millisecond there is nothing to tell apart.
  const low = Math.max(all.reduce((a, b) => Math.min(a, b)), 0.1);
  const high = Math.max(all.reduce((a, b) => Math.max(a, b)), low * 1.01);
  const count = 500;
  const xs = Array.from({ length: count }, (_, n) => low * (high / low) ** (n / (count - 1)));
  const lines = drawn.map((lane) => {
    const cdf = get(lane.entry);
    let at = 0, share = 0;
    const values = xs.map((x) => {
      while (at < cdf.length && cdf[at][0] <= x * 1.000001) share = cdf[at++][1];
      return share;
    });
    return { label: lane.label, lane, values, marked: true };
  });
  comparisonCharts.push(chart(host, xs, lines, {
    xLabel, yLabel: "share of samples", xLog: true, height: 260, yRange: [0, 1.02],
  }));
}

function drawFairness(link, lanes) {
  const section = document.getElementById("fairness");
  const timed = lanes.filter((lane) => lane.entry.time?.jain);
  section.hidden = !timed.length;
  if (!timed.length) return;
  const window = timed[0].entry.time.share_window;
  const kept = timed[0].entry.time.flows.length;
  document.getElementById("fairness-note").textContent =
    `Jain's index of the rates in each window of ${shown(window)} s, over the flows that are under way throughout it`
    + (kept < link.flows ? `; the first ${kept} of ${link.flows} flows` : "") + ". Below: the flows of one run on top of each other; hovering shows each one's own rate.";
  const xs = decode(timed[0].entry.time.jain).map((_, n) => (n + 0.5) * window);
  if (!xs.length) { section.hidden = true; return; }
  const onZoom = (min, max) => zoomTo(min, max);
  comparisonCharts.push(chart(document.getElementById("jain"), xs, timed.map((lane) => (
    { label: lane.label, lane, values: decode(lane.entry.time.jain), marked: true })),
  { xLabel: "time, s", yLabel: "Jain's index", yRange: [0, 1.05], height: 200, stepped: false, onZoom }));
  drawShares(link, timed, xs);
}

// Shares on top of each other, of one controller at a time; hovering shows each flow's own.
function drawShares(link, timed, xs) {
  const host = document.getElementById("shares");
  const select = element("select", {});
  timed.forEach((lane, n) => select.append(element("option", { value: n }, lane.label)));
  const first = timed.findIndex((lane) => !lane.frame);
  select.value = Math.max(first, 0);
  const panel = element("div", { className: "panel" }), title = element("h3", {});
  const choice = element("label", {}, "The flows of ", select);
  choice.hidden = timed.length < 2;
  host.replaceChildren(title, choice, panel);
  let plot = null;
  const draw = () => {
    if (plot) { remove(plot); comparisonCharts = comparisonCharts.filter((c) => c !== plot); }
    const { entry } = timed[select.value], flows = entry.time.flows;
    title.textContent = `Rates of the flows of ${timed[select.value].label}`;
    let below = xs.map(() => 0);
    const lines = flows.map((flow, index) => {
      const own = decode(flow.share), lo = below;
      const values = below = xs.map((_, n) => lo[n] + (own[n] ?? 0));
      return { label: flowName(entry, index), lane: { index, frame: false }, values, lo, text: (n) => shown(own[n]), marked: true };
    });
    plot = chart(panel, xs, lines, { xLabel: "time, s", yLabel: "Mbit/s, stacked", height: 220 });
    comparisonCharts.push(plot);
  };
  select.onchange = draw;
  draw();
}

// Controllers against each other: throughput and delay, distributions, fairness.
let comparisonCharts = [];

// Entries as lines: the controllers numbered as in every plot, limit and floor in grey.
function lanesOf(link) {
  let index = 0;
  return link.entries.map((entry) => {
    const frame = entry.role !== "contender";
    return { entry, frame, index: frame ? 0 : index++, label: entry.name + roleNote[entry.role] };
  });
}

function drawComparison(link) {
  comparisonCharts.forEach(remove);
  comparisonCharts = [];
  const lanes = lanesOf(link);
  drawPlane(link, lanes.filter((lane) => lane.entry.role !== "floor" && lane.entry.seeds.length));
  drawCdf("rtt-cdf", lanes, (entry) => entry.rtt, "RTT, ms");
  drawCdf("delay-cdf", lanes, (entry) => entry.queueing, "queueing delay, ms");
  drawFairness(link, lanes);
}

function mean(values) {
  return values.reduce((a, b) => a + b, 0) / values.length;
}

// Throughput against delay. The ellipse spans one standard deviation of the seeds each way along
// their principal axes.
function drawPlane(link, lanes) {
  const host = document.getElementById("plane");
  const points = lanes.flatMap((lane) => lane.entry.seeds).concat(link.windows.map((w) => [w.delay, w.rate]));
  document.getElementById("plane-note").textContent = "Towards the upper left is better: one mark "
    + "a controller" + (link.seeds > 1 ? " at the mean of its seeds (dots), ellipse: one standard deviation" : "")
    + ". The grey curve joins constant windows of rising size, the frontier to beat. Drag to zoom, double-click to return.";
  if (!points.length) { host.replaceChildren("No samples."); return; }
  const curve = link.windows;
  const xs = points.map((p) => p[0]).sort((a, b) => a - b);
  const rates = points.map((p) => p[1]);
  // Where the controllers are close together, the axis does not begin at zero.
  const own = lanes.flatMap((lane) => lane.entry.seeds).map((p) => p[1]);
  const least = own.reduce((a, b) => Math.min(a, b), Infinity), most = rates.reduce((a, b) => Math.max(a, b), 0);
  const room = Math.max(most - least, most * 0.05) * 0.3;
  const [bottom, top] = [least > 0.5 * most ? least - room : 0, most + Math.min(room, most * 0.1) || 1];
  const draw = (u) => {
    const { ctx, bbox } = u, ratio = devicePixelRatio || 1;
    const x = (v) => u.valToPos(v, "x", true), y = (v) => u.valToPos(v, "y", true);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.strokeStyle = ctx.fillStyle = theme().quiet;
    ctx.lineWidth = 1.2 * ratio;
    ctx.beginPath();
    curve.forEach((w, n) => ctx[n ? "lineTo" : "moveTo"](x(w.delay), y(w.rate)));
    ctx.stroke();
    for (const w of curve) mark(ctx, "ring", x(w.delay), y(w.rate), 2.5 * ratio);
    const taken = [];
    for (const lane of lanes) {
      const seeds = lane.entry.seeds.map(([delay, rate]) => [x(delay), y(rate)]);
      const centre = [x(mean(lane.entry.seeds.map((s) => s[0]))), y(mean(lane.entry.seeds.map((s) => s[1])))];
      ctx.strokeStyle = ctx.fillStyle = colour(lane);
      if (seeds.length > 1) {
        ctx.globalAlpha = 0.55;
        for (const [sx, sy] of seeds) mark(ctx, "circle", sx, sy, 1.8 * ratio);
        ctx.globalAlpha = 1;
        ellipse(ctx, seeds);
      }
      ctx.lineWidth = 2 * ratio;
      mark(ctx, shape(lane), ...centre, 6.5 * ratio);
      label(ctx, lane.entry.name, centre, bbox, ratio, taken);
    }
    ctx.restore();
  };
  const plot = chart(host, xs, [{ label: "", values: xs.map((_, n) => rates[n]), width: 0, stroke: () => "transparent" }], {
    xLabel: "95th percentile of the RTT, ms", yLabel: "throughput, Mbit/s", xLog: true, zoomsBoth: true,
    height: 420, legend: false, draw,
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

// A name beside its mark, where it covers no other name.
function label(ctx, text, [x, y], bbox, ratio, taken) {
  ctx.font = `${12 * ratio}px system-ui, sans-serif`;
  const width = ctx.measureText(text).width, height = 14 * ratio, gap = 10 * ratio;
  const places = [[gap, 0], [-gap - width, 0], [-width / 2, -height], [-width / 2, height],
                  [gap, -height], [gap, height], [-gap - width, -height], [-gap - width, height]];
  const free = ([dx, dy]) => {
    const box = [x + dx, y + dy - height / 2, x + dx + width, y + dy + height / 2];
    const inside = box[0] >= bbox.left && box[2] <= bbox.left + bbox.width
      && box[1] >= bbox.top && box[3] <= bbox.top + bbox.height;
    return inside && !taken.some((t) => box[0] < t[2] && box[2] > t[0] && box[1] < t[3] && box[3] > t[1]);
  };
  const [dx, dy] = places.find(free) ?? places[0];
  taken.push([x + dx, y + dy - height / 2, x + dx + width, y + dy + height / 2]);
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
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
    + (kept < link.flows ? `; the first ${kept} of ${link.flows} flows` : "") + ". Below: each flow's share of one controller.";
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
  const panel = element("div", { className: "panel" });
  host.replaceChildren(element("label", {}, "Shares of ", select), panel);
  let plot = null;
  const draw = () => {
    if (plot) { remove(plot); comparisonCharts = comparisonCharts.filter((c) => c !== plot); }
    const flows = timed[select.value].entry.time.flows;
    let below = xs.map(() => 0);
    const lines = flows.map((flow, index) => {
      const own = decode(flow.share), lo = below;
      const values = below = xs.map((_, n) => lo[n] + (own[n] ?? 0));
      return { label: `flow ${index + 1}`, lane: { index, frame: false }, values, lo, text: (n) => shown(own[n]), marked: true };
    });
    plot = chart(panel, xs, lines, { xLabel: "time, s", yLabel: "Mbit/s, stacked", height: 220 });
    comparisonCharts.push(plot);
  };
  select.onchange = draw;
  draw();
}

// One plot. All that is common to the report's plots is set here.
import { shown } from "./decode.js";
import { takesFingers } from "./pinch.js";
import { theme, colour, withAlpha, DASHES, shape, mark } from "./look.js";

const charts = new Set();

const FONT = "12px system-ui, sans-serif";
// Wide enough for any number, the same everywhere, so that time axes stand under each other.
const AXIS_WIDTH = 44;
const LABEL = 18;
const TICKS = 30;
export const TIME_AXIS = TICKS + LABEL;

function axis(label, side, options = {}) {
  return {
    label, side, font: FONT, labelFont: FONT, labelSize: LABEL, labelGap: 0,
    stroke: () => theme().quiet,
    grid: { stroke: () => theme().grid, width: 1 },
    ticks: { stroke: () => theme().grid, width: 1, size: 5 },
    size: side === 3 ? AXIS_WIDTH : TICKS,
    ...options,
  };
}

// Room above and below the values; a log axis does not grow to whole decades.
export function range(log) {
  return (u, low, high) => {
    if (low === null || high === null) return log ? [1, 10] : [0, 1];
    if (log) {
      const floor = Math.max(low, 1e-3);
      return [floor / 1.15, Math.max(high, floor * 1.2) * 1.15];
    }
    const bottom = Math.min(low, 0), top = Math.max(high, 0);
    const room = (top - bottom || 1) * 0.05;
    return [bottom < 0 ? bottom - room : 0, top > 0 ? top + room : 0];
  };
}

// Ticks of a log axis: 1, 2 and 5 of each decade, or finer where that would be fewer than four.
export function logSplits(u, at, low, high) {
  const within = (steps) => {
    const found = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e++) {
      for (const step of steps) {
        const value = +(step * 10 ** e).toPrecision(3);
        if (value >= low && value <= high) found.push(value);
      }
    }
    return found;
  };
  const decades = Math.log10(high / low);
  const coarse = decades > 4 ? within([1]) : within([1, 2, 5]);
  if (coarse.length >= 4 || decades > 4) return coarse;
  if (decades > 0.35) return within([1, 1.5, 2, 3, 4, 5, 6, 8]);
  // So little of a decade is nearly linear.
  const rough = (high - low) / 8, unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * unit).find((n) => n >= rough);
  const first = Math.ceil(low / step), count = Math.floor(high / step) - first + 1;
  return Array.from({ length: Math.max(count, 0) }, (_, n) => +((first + n) * step).toPrecision(6));
}

export const LOG_AXIS = {
  splits: logSplits, filter: (u, splits) => splits,
  values: (u, splits, at) => {
    const names = splits.map((v) => (v === null ? "" : String(v)));
    return at === 0 ? apart(u, splits, names) : names;
  },
};

// Of names under an axis those that do not touch the one before.
export function apart(u, splits, names) {
  const order = splits.map((_, n) => n).sort((a, b) => splits[a] - splits[b]);
  const texts = splits.map(() => "");
  let until = -Infinity;
  for (const n of order) {
    const half = (names[n].length * 6.5) / 2, at = u.valToPos(splits[n], "x");
    if (!(at - half > until)) continue;
    texts[n] = names[n];
    until = at + half + 6;
  }
  return texts;
}

// A logarithmic axis says so.
function named(label, log) {
  return log ? `${label} (logarithmic)` : label;
}

// Markers along a line, `step` pixels apart, those of different lines beside each other.
function drawMarkers(u, lines) {
  const { ctx, bbox } = u, ratio = devicePixelRatio || 1;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineWidth = 1.6 * ratio;
  const step = 130 * ratio;
  for (const { lane, at, order, marked } of lines) {
    if (!marked || !u.series[at].show) continue;
    ctx.strokeStyle = ctx.fillStyle = colour(lane);
    const from = (((order % 8) + 0.5) / 8) * step;
    for (let x = bbox.left + from; x < bbox.left + bbox.width; x += step) {
      const n = u.posToIdx((x - bbox.left) / ratio);
      const value = u.data[at][n];
      if (value === null || value === undefined) continue;
      mark(ctx, shape(lane), u.valToPos(u.data[0][n], "x", true), u.valToPos(value, "y", true), 4 * ratio);
    }
  }
  ctx.restore();
}

// Draws `lines` over common `xs` into `host` and returns the plot.
// A line: { label, values, lane or stroke, dash, width, lo (lower edge of its envelope), fill,
// marked, text(n) (what hovering shows instead of the n-th value) }. `options`: { xLabel, yLabel,
// xLog, yLog, xRange, xAxis, yRange, yAxis, xText (what hovering shows of x), height, key (plots of
// one key share cursor and zoom), onZoom(min, max), window ([min, max] of x), draw(u), stepped,
// legend }.
export function chart(host, xs, lines, options) {
  host.replaceChildren();
  const values = [xs], series = [{ label: options.xLabel, value: (u, v, at, n) => options.xText?.(n) ?? shown(v) }], bands = [];
  const placed = [];
  const paths = options.stepped ? uPlot.paths.stepped({ align: 1 }) : undefined;
  lines.forEach((line, order) => {
    const stroke = () => (line.lane ? colour(line.lane) : line.stroke());
    const at = values.length;
    values.push(line.values);
    series.push({
      label: line.label, stroke, width: line.width ?? 1.5, dash: DASHES[line.dash ?? "solid"],
      fill: line.fill, spanGaps: true, points: { show: false }, paths,
      value: (u, v, at, n) => (line.text && n !== null ? line.text(n) : shown(v)), look: line.dash,
    });
    if (line.lo) {
      values.push(line.lo);
      series.push({
        label: line.label, class: "edge", stroke: () => withAlpha(stroke(), 0.35), width: 0.75,
        spanGaps: true, points: { show: false },
      });
      bands.push({ series: [at, at + 1], fill: () => withAlpha(stroke(), 0.18) });
    }
    placed.push({ ...line, at, order });
  });
  const plot = new uPlot({
    width: Math.max(host.clientWidth, 200), height: options.height ?? 220,
    series, bands, padding: [8, 10, 0, 0],
    legend: {
      show: options.legend !== false, live: true,
      markers: { dash: (u, n) => ({ dashed: "dashed", dotted: "dotted" })[series[n].look] ?? "solid" },
    },
    cursor: {
      drag: { x: true, y: Boolean(options.zoomsBoth), uni: 30 },
      sync: options.key ? { key: options.key, setSeries: false, scales: ["x", null] } : undefined,
      points: { size: 6 },
    },
    scales: {
      x: { time: false, distr: options.xLog ? 3 : 1,
           range: options.xRange ?? (options.xLog ? range(true) : (u, low, high) => [low, high]) },
      y: { distr: options.yLog ? 3 : 1, range: options.yRange ?? range(options.yLog) },
    },
    axes: [
      axis(named(options.xLabel, options.xLog), 2, options.xAxis ?? (options.xLog ? LOG_AXIS : {})),
      axis(named(options.yLabel, options.yLog), 3, options.yLog ? LOG_AXIS : options.yAxis ?? {}),
    ],
    hooks: {
      draw: [(u) => { drawMarkers(u, placed); options.draw?.(u); }],
      setScale: [(u, key) => {
        if (key === "x" && u.ready) options.onZoom?.(u.scales.x.min, u.scales.x.max);
      }],
      ready: [(u) => { u.ready = true; }],
      setCursor: options.onCursor ? [options.onCursor] : [],
    },
  }, values, host);
  if (options.window) plot.setScale("x", { min: options.window[0], max: options.window[1] });
  plot.host = host;
  const canvas = plot.root.querySelector("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `Plot of ${[options.yLabel.trim() || "phases", options.xLabel].join(" over ")}`);
  takesFingers(plot);
  charts.add(plot);
  return plot;
}

export function remove(plot) {
  charts.delete(plot);
  plot.destroy();
}

addEventListener("resize", () => {
  for (const plot of charts) {
    plot.setSize({ width: Math.max(plot.host.clientWidth, 200), height: plot.height });
  }
});

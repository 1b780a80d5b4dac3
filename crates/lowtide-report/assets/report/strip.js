// Phases, the filter's modes, losses and retransmissions: one row a line.
import { shown, element } from "./decode.js";
import { theme, colour, withAlpha, mark } from "./look.js";
import { TIME_AXIS, chart } from "./chart.js";

const ROW = 46;

// The state at a time in milliseconds; null before the first.
function stateAt(track, ms) {
  let low = 0, high = track.changes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (track.changes[middle][0] <= ms) low = middle + 1; else high = middle;
  }
  return low ? track.states[track.changes[low - 1][1]] : null;
}

function drawTrack(u, track, top, height, end) {
  const { ctx, bbox } = u, ratio = devicePixelRatio || 1;
  const right = bbox.left + bbox.width;
  ctx.font = `${10 * ratio}px system-ui, sans-serif`;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  // Narrow stays share a pixel; the widest of them colours it.
  let pixel = -1, widest = 0;
  track.changes.forEach(([ms, state], n) => {
    const until = n + 1 < track.changes.length ? track.changes[n + 1][0] : end * 1000;
    const from = Math.max(u.valToPos(ms / 1000, "x", true), bbox.left);
    const to = Math.min(u.valToPos(until / 1000, "x", true), right);
    if (to <= bbox.left || from >= right) return;
    const width = to - from;
    if (width < 1) {
      const at = Math.floor(from);
      if (at === pixel && width <= widest) return;
      [pixel, widest] = [at, width];
    }
    const name = track.states[state];
    ctx.fillStyle = track.colours[state];
    ctx.fillRect(from, top, Math.max(width, 1), height);
    if (height >= 10 * ratio && ctx.measureText(name).width + 6 * ratio < width) {
      ctx.fillStyle = "#101214";
      ctx.fillText(name, from + 3 * ratio, top + height / 2);
    }
  });
}

function drawMarks(u, counts, bin, top, height, draw) {
  const { bbox } = u, ratio = devicePixelRatio || 1;
  let last = -Infinity;
  for (const [at] of counts) {
    const x = u.valToPos((at + 0.5) * bin, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width || x - last < 2 * ratio) continue;
    last = x;
    draw(x, top, height);
  }
}

export function strip(host, lanes, link, options) {
  const readout = element("p", { className: "readout" });
  const legend = element("p", { className: "states" });
  const box = element("div", {});
  const rows = lanes.map((lane) => ({ lane, flow: lane.tracks }));
  const draw = (u) => {
    const { ctx, bbox } = u, ratio = devicePixelRatio || 1;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    rows.forEach(({ lane, flow }, n) => {
      const top = bbox.top + n * ROW * ratio;
      ctx.fillStyle = colour(lane);
      ctx.font = `600 ${11 * ratio}px system-ui, sans-serif`;
      ctx.textBaseline = "middle";
      ctx.textAlign = "left";
      ctx.fillText(lane.label, bbox.left + 3 * ratio, top + 7 * ratio);
      const end = (lane.flow === lane.tracks && lane.entry.flows[lane.index]?.end) || link.duration;
      drawTrack(u, flow.phases, top + 14 * ratio, 12 * ratio, end);
      drawTrack(u, flow.modes, top + 27 * ratio, 5 * ratio, end);
      const marks = top + 33 * ratio, height = 9 * ratio;
      ctx.fillStyle = ctx.strokeStyle = withAlpha(theme().ink, 0.55);
      drawMarks(u, lane.counts.resent, link.bin, marks, height, (x, y, h) => ctx.fillRect(x, y + h * 0.55, ratio, h * 0.45));
      ctx.fillStyle = ctx.strokeStyle = "#d9480f";
      drawMarks(u, lane.counts.lost, link.bin, marks, height, (x, y, h) => mark(ctx, "down", x, y + h * 0.3, h * 0.32));
      ctx.strokeStyle = ctx.fillStyle = theme().ink;
      ctx.lineWidth = 1.5 * ratio;
      drawMarks(u, lane.counts.timeouts, link.bin, marks, height, (x, y, h) => mark(ctx, "cross", x, y + h * 0.5, h * 0.42));
    });
    ctx.restore();
  };
  const countAt = (counts, bin) => counts.find(([at]) => at === bin)?.[1] ?? 0;
  const onCursor = (u) => {
    if (u.cursor.left === undefined || u.cursor.left < 0) { readout.textContent = "\u00a0"; return; }
    const time = u.posToVal(u.cursor.left, "x"), bin = Math.floor(time / link.bin);
    readout.textContent = `${shown(time)} s   ` + rows.map(({ lane, flow }) => {
      const parts = [stateAt(flow.phases, time * 1000), stateAt(flow.modes, time * 1000)];
      for (const [name, counts] of Object.entries(lane.counts)) {
        const count = countAt(counts, bin);
        if (count) parts.push(`${count} ${name}`);
      }
      return `${lane.label}: ${parts.filter(Boolean).join(", ") || "–"}`;
    }).join("   ");
  };
  host.replaceChildren(box, readout, legend);
  readout.textContent = "\u00a0";
  // Of each name the colour; those of one controller in its own order.
  const keys = (get) => new Map(rows.flatMap(({ flow }) => get(flow).states.map((name, n) => [name, get(flow).colours[n]])));
  const inPhases = keys((f) => f.phases);
  const phases = [...inPhases], modes = [...keys((f) => f.modes)].filter(([name]) => !inPhases.has(name));
  const key = ([name, background]) => element("span", {}, element("i", { style: `background:${background}` }), name);
  legend.append(...phases.map(key), ...(modes.length ? ["  thin band:", ...modes.map(key)] : []),
    element("span", {}, "▼ lost"), element("span", {}, "╷ sent again"), element("span", {}, "✕ timeout"));
  const height = rows.length * ROW + 8 + TIME_AXIS;
  const xs = options.xs;
  return chart(box, xs, [{ label: "", values: xs.map(() => null), width: 0, stroke: () => "transparent" }], {
    ...options, yLabel: " ", yRange: [0, 1], legend: false, height, draw, onCursor,
    yAxis: { values: () => [], splits: () => [], grid: { show: false }, ticks: { show: false } },
  });
}

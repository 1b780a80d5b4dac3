// Grids: any value over the fields that a scenario file varies, as lines or as a heat map.
import { data, shown, element } from "./decode.js";
import { theme, colour, shape, mark, swatch } from "./look.js";
import { range, apart, chart, remove } from "./chart.js";
import { mean } from "./comparison.js";

const sweepView = { sweep: null, metric: "", fields: [], heat: false, roles: {}, fixed: [], hidden: new Set(), log: false, plots: [] };
// Places along an axis that are still told apart.
const MOST_PANELS = 24, MOST_ROWS = 400;

// Cividis: even steps of lightness from blue to yellow, nearly the same with and without red-green
// vision (Nuñez, Anderton and Renslow 2018).
const RAMP = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"];

// Colour of a share between 0 and 1, and of a text on it.
function ramp(share) {
  const place = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1), low = Math.min(Math.floor(place), RAMP.length - 2);
  const part = (hex, at) => parseInt(hex.slice(at, at + 2), 16);
  const mixed = [1, 3, 5].map((at) => {
    const [a, b] = [part(RAMP[low], at), part(RAMP[low + 1], at)];
    return Math.round(a + (b - a) * (place - low));
  });
  return { background: `rgb(${mixed})`, ink: share > 0.5 ? "#101214" : "#ffffff" };
}

// Groups of flows are a field like the others, the last one: a place in a grid is a cell and a group,
// numbered group by group.
function placeOf(cell, group) {
  return cell + group * sweepView.sweep.cells.length;
}

function cellOf(place) {
  return place % sweepView.sweep.cells.length;
}

// The field of groups, if there is one.
function groupField() {
  const { sweep, fields } = sweepView;
  return fields.length > sweep.fields.length ? sweep.fields.length : null;
}

// Groups that are shown: all where they have a role, else the chosen one.
function shownGroups() {
  const { sweep, roles, fixed } = sweepView, own = groupField();
  if (own === null) return [0];
  return Object.values(roles).includes(own) ? sweep.groups.map((_, n) => n) : [fixed[own]];
}

function shownPlaces() {
  const { sweep } = sweepView;
  return shownGroups().flatMap((group) => sweep.cells.map((_, cell) => placeOf(cell, group)));
}

function metricOf() {
  const { sweep, metric } = sweepView;
  const about = sweep.metrics.find((m) => m.key === metric);
  const factor = about.factor ?? 1;
  const at = (kind) => (place) => {
    const group = sweep.groups[Math.floor(place / sweep.cells.length)];
    const value = sweep.values[group.prefix + metric]?.[kind][cellOf(place)];
    return value === null || value === undefined ? null : value * factor;
  };
  return { label: about.label ?? about.key, better: about.better ?? 0, mean: at("mean"), half: at("half") };
}

// Half the interval with the value's own digits; empty where those do not show it.
function intervalText(metric, cell) {
  const value = metric.mean(cell), half = metric.half(cell);
  if (value === null || half === null) return "";
  const text = half.toFixed((shown(value).split(/[.e]/)[1] ?? "").length);
  return Number(text) ? `±${text}` : "";
}

function withInterval(metric, cell) {
  return cell === undefined ? "–" : `${shown(metric.mean(cell))} ${intervalText(metric, cell)}`.trim();
}

// Which field goes across, which are lines (or go down), which gives the panels. Groups of flows are
// lines; else controllers are, or panels of a heat map; what has most values goes across.
function chooseRoles() {
  const { sweep, fields } = sweepView, groups = groupField();
  const varied = sweep.fields.map((_, n) => n).filter((n) => sweep.fields[n].labels.length > 1);
  const own = varied.includes(sweep.controllers) ? sweep.controllers : null;
  const rest = varied.filter((n) => n !== own)
    .sort((a, b) => (sweep.fields[b].numbers !== null) - (sweep.fields[a].numbers !== null)
      || sweep.fields[b].labels.length - sweep.fields[a].labels.length || a - b);
  const others = own === null ? rest : [...rest, own];
  const [x = null, y = null, panel = null] = groups !== null ? [others[0], groups, own === others[0] ? others[1] : own ?? others[1]]
    : own === null ? rest : rest.length > 1 ? [rest[0], rest[1], own] : [rest[0] ?? own, rest.length ? own : null];
  sweepView.heat = groups === null && own !== null && rest.length > 1;
  sweepView.roles = { x, y, panel };
  sweepView.fixed = fields.map((_, n) => (n === groups ? sweep.group : 0));
}

// Gives a role to a field; who had it takes what the field had.
function giveRole(role, field) {
  const { roles } = sweepView;
  const before = Object.keys(roles).find((r) => roles[r] === field && r !== role);
  if (before && field !== null) roles[before] = roles[role];
  roles[role] = field;
  if (roles.x === null) [roles.x, roles.y] = [roles.y, null];
}

export function setUpSweeps() {
  const section = document.getElementById("sweep");
  section.hidden = !data.sweeps.length;
  if (section.hidden) return;
  const choice = document.getElementById("grid");
  data.sweeps.forEach((sweep, n) => choice.append(element("option", { value: n }, sweep.name)));
  document.getElementById("grid-choice").hidden = data.sweeps.length < 2;
  choice.onchange = () => showSweep(Number(choice.value));
  showSweep(0);
}

export function showSweep(at) {
  const sweep = data.sweeps[at];
  const groups = sweep.groups.length > 1 ? [{ key: "flows", labels: sweep.groups.map((g) => g.name), numbers: null }] : [];
  Object.assign(sweepView, { sweep, fields: [...sweep.fields, ...groups], metric: sweep.metrics[0]?.key ?? "", hidden: new Set() });
  document.getElementById("grid").value = at;
  chooseRoles();
  sweepView.log = wantsLog();
  drawSweep();
}

// Values over several decades are told apart on a logarithmic scale only.
function wantsLog() {
  const metric = metricOf();
  const values = shownPlaces().map(metric.mean).filter((v) => v !== null);
  const low = values.reduce((a, b) => Math.min(a, b), Infinity), high = values.reduce((a, b) => Math.max(a, b), 0);
  return low > 0 && high > 30 * low;
}

function picker(text, options, chosen, choose) {
  const select = element("select", {}, ...options.map(([value, name]) => element("option", { value }, name)));
  select.value = chosen ?? "";
  select.onchange = () => { choose(select.value); drawSweep(); };
  return element("label", {}, `${text} `, select);
}

function drawSweepBar() {
  const { sweep, roles, heat, fields } = sweepView;
  const pickers = [picker("Value", sweep.metrics.map((m) => [m.key, m.label ?? m.key]), sweepView.metric, (key) => {
    sweepView.metric = key;
    sweepView.log = wantsLog();
  })];
  const names = fields.map((field, n) => [n, field.key]).filter(([n]) => fields[n].labels.length > 1);
  const field = (text, role, optional) => picker(text, optional ? [["", "none"], ...names] : names, roles[role],
    (n) => giveRole(role, n === "" ? null : Number(n)));
  if (names.length > 1) {
    pickers.push(field("across", "x", false), field(heat ? "down" : "lines", "y", true));
    if (names.length > 2) pickers.push(field("panels", "panel", true));
  }
  const used = Object.values(roles);
  fields.forEach((f, n) => {
    if (used.includes(n) || f.labels.length < 2) return;
    pickers.push(picker(n === groupField() ? "of" : `${f.key} =`, f.labels.map((label, at) => [at, label]), sweepView.fixed[n], (at) => {
      sweepView.fixed[n] = Number(at);
      if (n === groupField()) sweepView.log = wantsLog();
    }));
  });
  const toggle = (text, pressed, click) => {
    const button = element("button", { type: "button", "aria-pressed": pressed }, text);
    button.onclick = () => { click(); drawSweep(); };
    return button;
  };
  const ways = element("span", { className: "ways" },
    toggle("lines", !heat, () => { sweepView.heat = false; }), toggle("heat map", heat, () => { sweepView.heat = true; }),
    toggle("logarithmic", sweepView.log, () => { sweepView.log = !sweepView.log; }));
  document.getElementById("sweep-fields").replaceChildren(...pickers, ways);
}

function sweepLane(index) {
  const field = sweepView.fields[sweepView.roles.y];
  return { index, frame: false, label: field ? field.labels[index] : sweepView.sweep.name };
}

function drawSweepLanes() {
  const { fields, roles, hidden, heat } = sweepView;
  const field = fields[roles.y];
  document.getElementById("sweep-lanes").replaceChildren(...(heat || !field ? [] : field.labels.map((label, n) => {
    const button = element("button", { type: "button", "aria-pressed": !hidden.has(label) }, swatch(sweepLane(n)), label);
    button.onclick = () => {
      if (!hidden.delete(label)) hidden.add(label);
      drawSweep();
    };
    return button;
  })));
}

// The cell at given places of the fields that have a role.
function cellFinder() {
  const { sweep, roles, fixed } = sweepView;
  const cells = new Map(sweep.cells.map((at, n) => [at.join(), n]));
  return (x, y, panel) => {
    const at = [...fixed];
    if (roles.x !== null) at[roles.x] = x;
    if (roles.y !== null) at[roles.y] = y;
    if (roles.panel !== null) at[roles.panel] = panel;
    const cell = cells.get(at.slice(0, sweep.fields.length).join());
    return cell === undefined ? undefined : placeOf(cell, at[groupField()] ?? 0);
  };
}

function labelsOf(role) {
  const field = sweepView.fields[sweepView.roles[role]];
  return field ? field.labels : [""];
}

export function drawSweep() {
  const { sweep, heat } = sweepView;
  sweepView.plots.forEach(remove);
  sweepView.plots = [];
  drawSweepBar();
  drawSweepLanes();
  const metric = metricOf(), find = cellFinder(), panels = labelsOf("panel");
  const better = { 1: " More is better.", "-1": " Less is better." }[metric.better] ?? "";
  const least = sweep.seeds.reduce((a, b) => Math.min(a, b), Infinity), most = sweep.seeds.reduce((a, b) => Math.max(a, b), 0);
  const seeds = least === most ? `${most}` : `${least} to ${most}`;
  document.getElementById("sweep-note").textContent = `${sweep.about}${sweep.about ? " " : ""}${sweep.cells.length} cells, mean over ${seeds} seed${most === 1 ? "" : "s"}`
    + `${most > 1 ? `; ${heat ? "±" : "bars"}: 95 % interval` : ""}.${better}`
    + (heat && metric.better && panels.length > 1 ? " Framed: the best of the panels at this place." : "")
    + (sweep.omitted ? ` ${sweep.omitted} further values are left out to keep the file small; sweep --json has them.` : "")
    + (panels.length > MOST_PANELS ? ` The first ${MOST_PANELS} of ${panels.length} panels are shown.` : "");
  const host = document.getElementById("sweep-panels");
  host.className = panels.length > 1 ? "tiles" : "";
  host.replaceChildren();
  const draw = heat ? heatMap : lineChart;
  const common = heat ? heatScale(metric) : lineScale(metric, find);
  panels.slice(0, MOST_PANELS).forEach((label, panel) => {
    const body = element("div", { className: heat ? "scroll" : "panel" });
    const tile = element("div", { className: "tile" }, body);
    if (label) tile.prepend(element("h3", {}, label));
    host.append(tile);
    draw(body, metric, (x, y) => find(x, y, panel), common, panel);
  });
  if (heat) host.prepend(heatLegend(metric, common));
  drawCells(metric);
  const failed = document.getElementById("sweep-failed");
  failed.replaceChildren(...sweep.failed.map(([cell, reason]) => element("li", {}, `${cellName(cell)}, ${reason}`)));
  failed.hidden = !sweep.failed.length;
}

function cellName(cell) {
  return sweepView.sweep.fields.map((field, n) => field.labels[sweepView.sweep.cells[cellOf(cell)][n]]).join(", ");
}

// The lower end of an interval; one of values that cannot be negative ends at `least`.
function below(value, half, least) {
  return value >= 0 && value - half <= 0 ? least : value - half;
}

// One vertical scale for all panels, so that they can be compared.
function lineScale(metric, find) {
  const { log, hidden } = sweepView;
  let low = Infinity, high = -Infinity;
  const lines = labelsOf("y");
  labelsOf("panel").forEach((_, panel) => labelsOf("x").forEach((__, x) => lines.forEach((label, y) => {
    const cell = find(x, y, panel);
    const value = cell === undefined || hidden.has(label) ? null : metric.mean(cell);
    if (value === null || (log && value <= 0)) return;
    const half = metric.half(cell) ?? 0;
    low = Math.min(low, below(value, half, log ? value : 0));
    high = Math.max(high, value + half);
  })));
  return low > high ? range(log)(null, null, null) : range(log)(null, low, high);
}

// Ticks at the field's own values, those left out that would cover the one before.
function fieldAxis(field, places) {
  return {
    splits: () => places, filter: (u, splits) => splits, grid: { show: true, stroke: () => theme().grid, width: 1 },
    values: (u, splits) => apart(u, splits, field.labels.map((label) => (label.length > 18 ? `${label.slice(0, 17)}…` : label))),
  };
}

function lineChart(host, metric, find, yRange) {
  const { fields, roles, hidden, log } = sweepView;
  const field = fields[roles.x] ?? { key: "", labels: [""], numbers: null };
  // A line joins only places that are numbers.
  const joined = field.numbers !== null;
  const given = joined ? field.numbers : field.labels.map((_, n) => n);
  const order = given.map((_, n) => n).sort((a, b) => given[a] - given[b]);
  const xs = order.map((n) => given[n]);
  const positive = xs.filter((v) => v > 0);
  const xLog = joined && positive.length === xs.length && xs.length > 2 && xs[xs.length - 1] > 8 * xs[0];
  const drawn = labelsOf("y").map((label, y) => {
    const cells = order.map((x) => find(x, y));
    const usable = (v) => (v === null || (log && v <= 0) ? null : v);
    return { label: label || metric.label, y, lane: sweepLane(y), cells,
             values: cells.map((cell) => (cell === undefined ? null : usable(metric.mean(cell)))) };
  }).filter((line) => !hidden.has(line.label) && line.values.some((v) => v !== null));
  const room = (u) => (joined ? 0 : Math.min(16, (u.over.clientWidth / Math.max(xs.length, 1)) * 0.7 / Math.max(drawn.length, 1)));
  const draw = (u) => {
    const { ctx } = u, ratio = devicePixelRatio || 1;
    ctx.save();
    drawn.forEach((line, n) => {
      ctx.strokeStyle = ctx.fillStyle = colour(line.lane);
      ctx.lineWidth = 1.5 * ratio;
      const beside = (n - (drawn.length - 1) / 2) * room(u) * ratio;
      line.values.forEach((value, at) => {
        if (value === null) return;
        const x = u.valToPos(xs[at], "x", true) + beside, half = metric.half(line.cells[at]) ?? 0;
        const y = (v) => Math.min(Math.max(u.valToPos(v, "y", true), u.bbox.top), u.bbox.top + u.bbox.height);
        if (half > 0) {
          ctx.beginPath();
          ctx.moveTo(x, y(below(value, half, u.scales.y.min)));
          ctx.lineTo(x, y(value + half));
          ctx.stroke();
        }
        mark(ctx, shape(line.lane), x, y(value), 4.5 * ratio);
      });
    });
    ctx.restore();
  };
  const ends = [xs[0], xs[xs.length - 1]];
  const xRange = (u, low, high) => {
    // Room at the ends of the whole; a reader's own choice stands.
    if (low > ends[0] || high < ends[1]) return [low, high];
    if (!joined) return [ends[0] - 0.5, ends[1] + 0.5];
    if (xLog) { const edge = (ends[1] / ends[0]) ** 0.04; return [ends[0] / edge, ends[1] * edge]; }
    const edge = (ends[1] - ends[0]) * 0.04 || 1;
    return [ends[0] - edge, ends[1] + edge];
  };
  sweepView.plots.push(chart(host, xs, drawn.map((line) => ({
    label: line.label, lane: line.lane, values: line.values, width: joined ? 1.5 : 0,
    text: (n) => withInterval(metric, line.cells[n]),
  })), {
    xLabel: field.unit ? `${field.key}, ${field.unit}` : field.key, yLabel: metric.label, xLog, yLog: log, xRange, height: 320, draw,
    xAxis: fieldAxis({ labels: order.map((n) => field.labels[n]) }, xs), xText: (n) => (n === null ? "–" : field.labels[order[n]]),
    yRange: () => yRange,
  }));
}

// Share of each value between the smallest and the largest, over all panels.
function heatScale(metric) {
  const { log } = sweepView;
  const values = shownPlaces().map(metric.mean).filter((v) => v !== null && (!log || v > 0));
  const low = values.reduce((a, b) => Math.min(a, b), Infinity), high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const to = (v) => (log ? Math.log(v) : v);
  return { low, high, share: (v) => (log && v <= 0 ? 0 : high > low ? (to(v) - to(low)) / (to(high) - to(low)) : 0.5),
           at: (share) => (log ? Math.exp(to(low) + share * (to(high) - to(low))) : low + share * (high - low)) };
}

function heatLegend(metric, scale) {
  if (!(scale.low <= scale.high)) return element("p", {}, "Nothing was measured.");
  const steps = scale.low === scale.high ? [0] : [0, 0.25, 0.5, 0.75, 1];
  return element("div", { className: "ramp" },
    element("span", {}, metric.label),
    ...steps.map((share) => {
      const { background, ink } = ramp(scale.low === scale.high ? 0.5 : share);
      return element("i", { style: `background:${background};color:${ink}` }, shown(scale.at(share)));
    }));
}

function heatMap(host, metric, find, scale) {
  const { fields, roles } = sweepView;
  const across = labelsOf("x"), down = labelsOf("y");
  const finder = cellFinder(), panels = labelsOf("panel");
  // The best as shown, where not all are.
  const best = (x, y) => {
    if (!metric.better) return null;
    const values = panels.map((_, p) => finder(x, y, p)).map((cell) => (cell === undefined ? null : metric.mean(cell))).filter((v) => v !== null);
    if (new Set(values.map(shown)).size < 2) return null;
    return shown(metric.better > 0 ? Math.max(...values) : Math.min(...values));
  };
  const [below, beside] = [fields[roles.y]?.key, fields[roles.x]?.key];
  const head = element("tr", {}, element("th", { scope: "col" }, ...(below ? [`${below} ↓`, element("br")] : []), `${beside} →`),
    ...across.map((label) => element("th", { scope: "col" }, label)));
  const rows = down.map((label, y) => element("tr", {}, element("th", { scope: "row" }, label), ...across.map((_, x) => {
    const cell = find(x, y), value = cell === undefined ? null : metric.mean(cell);
    if (value === null) return element("td", {}, "–");
    const { background, ink } = ramp(scale.share(value));
    const text = element("td", { style: `background:${background};color:${ink}`, title: `${cellName(cell)}: ${withInterval(metric, cell)}` }, shown(value));
    const interval = intervalText(metric, cell);
    if (interval) text.append(element("small", {}, interval));
    if (best(x, y) === shown(value)) text.classList.add("best");
    return text;
  })));
  host.replaceChildren(element("table", { className: "heat" }, element("thead", {}, head), element("tbody", {}, ...rows)));
}

// Every cell with the chosen value first, sorted by a click on a heading.
const cellOrder = { column: null, up: false };

function drawCells(metric) {
  const { sweep } = sweepView, groups = shownGroups();
  const chosen = sweep.metrics.find((m) => m.key === sweepView.metric);
  const others = sweep.metrics.filter((m) => m !== chosen).slice(0, 5);
  const columns = [
    ...sweep.fields.map((field, n) => field.labels.length > 1 && ({ head: field.key, name: true, value: (cell) => field.numbers?.[sweep.cells[cell][n]] ?? field.labels[sweep.cells[cell][n]], text: (cell) => field.labels[sweep.cells[cell][n]] })).filter(Boolean),
    ...groups.map((group) => ({
      head: groups.length > 1 ? `${metric.label}: ${sweep.groups[group].name}` : metric.label,
      value: (cell) => metric.mean(placeOf(cell, group)), text: (cell) => withInterval(metric, placeOf(cell, group)),
    })).filter((column) => sweep.cells.some((_, cell) => column.value(cell) !== null)),
    ...others.map((m) => {
      const column = sweep.values[sweep.groups[groups[0]].prefix + m.key], factor = m.factor ?? 1;
      const value = (cell) => (column && column.mean[cell] !== null ? column.mean[cell] * factor : null);
      return { head: m.label ?? m.key, value, text: (cell) => shown(value(cell)) };
    }).filter((column) => sweep.cells.some((_, cell) => column.value(cell) !== null)),
  ];
  const cells = sweep.cells.map((_, n) => n);
  const by = columns[cellOrder.column];
  if (by) {
    const sign = cellOrder.up ? 1 : -1;
    cells.sort((a, b) => {
      const [p, q] = [by.value(a), by.value(b)];
      if (p === null || q === null) return (p === null) - (q === null);
      return sign * (typeof p === "string" ? p.localeCompare(q) : p - q);
    });
  }
  const heads = columns.map((column, n) => {
    const button = element("button", { type: "button" }, column.head);
    button.onclick = () => {
      cellOrder.up = cellOrder.column === n ? !cellOrder.up : true;
      cellOrder.column = n;
      drawCells(metric);
    };
    const sorted = cellOrder.column === n ? (cellOrder.up ? "ascending" : "descending") : "none";
    return element("th", { scope: "col", "aria-sort": sorted, className: column.name ? "name" : "" }, button);
  });
  const rows = cells.slice(0, MOST_ROWS).map((cell) => element("tr", {}, ...columns.map((column) => (
    element("td", { className: column.name ? "name" : "" }, column.text(cell))))));
  document.getElementById("cells").replaceChildren(
    element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows));
  document.getElementById("cells-title").textContent = `All ${cells.length} cells`
    + (cells.length > MOST_ROWS ? `, the first ${MOST_ROWS} in this order` : "");
}

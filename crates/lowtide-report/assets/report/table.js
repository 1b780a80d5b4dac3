// The table of results: sorted by a click on a heading, the best of the controllers marked.
import { data, shown, element } from "./decode.js";
import { swatch } from "./look.js";
import { roleNote } from "./lanes.js";

let order = { column: null, up: false };

// A trace without its folders; other names as they are.
function shortName(name) {
  return /\s/.test(name) ? name : name.split("/").pop();
}

// A value with its digits; of four thousand nobody reads tenths.
function cellText(value, column) {
  return value === null ? "–" : value.toFixed(Math.abs(value) < 1000 ? column.digits : 0);
}

export function drawTable() {
  const several = data.links.length > 1;
  const rows = data.links.flatMap((link, at) => link.entries.map((entry) => ({ link, at, entry })));
  if (order.column !== null) {
    const sign = order.up ? 1 : -1;
    const value = ({ entry, link }) => order.column === "name" ? entry.name
      : order.column === "link" ? link.name : entry.cells[order.column];
    rows.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (typeof x === "string") return sign * x.localeCompare(y);
      // What does not exist comes last either way.
      if (x === null || y === null) return (x === null) - (y === null);
      return sign * (x - y);
    });
  }
  const head = (key, text, title, up) => {
    const button = element("button", { type: "button", title }, text);
    button.onclick = () => {
      order = { column: key, up: order.column === key ? !order.up : up };
      drawTable();
    };
    const sorted = order.column === key ? (order.up ? "ascending" : "descending") : "none";
    return element("th", { scope: "col", "aria-sort": sorted, className: typeof key === "string" ? "name" : "" }, button);
  };
  const heads = [head("name", "controller", "name", true)];
  if (several) heads.unshift(head("link", "link", "name of the link", true));
  data.columns.forEach((c, n) => heads.push(head(n, c.head, c.title, !c.higher_is_better)));
  const body = rows.map(({ link, at, entry }) => {
    const name = entry.name + roleNote[entry.role];
    const cells = [element("td", { className: "name", title: name }, name)];
    if (several) {
      const open = element("button", { type: "button", className: "link", title: link.name }, shortName(link.name));
      open.onclick = () => dispatchEvent(new CustomEvent("showlink", { detail: at }));
      cells.unshift(element("td", {}, open));
    }
    data.columns.forEach((column, n) => {
      const value = entry.cells[n];
      const text = cellText(value, column);
      const half = entry.ci95?.[n];
      const spread = half !== null && half >= 0.5 * 10 ** -column.digits
        ? ` ±${cellText(half, column)}` : "";
      const best = isBest(link, entry, column, n, text);
      const cell = element("td", best ? { className: "best" } : {}, text);
      if (spread && entry.ci95) cell.append(element("small", {}, spread));
      cells.push(cell);
    });
    const row = element("tr", { className: entry.role === "contender" ? "" : "frame" }, ...cells);
    return [row, ...flowRows(link, entry, several)];
  });
  const spread = rows.some(({ entry }) => entry.ci95);
  // Intervals stand below their values where all that would not fit.
  document.getElementById("table").className = `sorted${several && spread ? " dense" : ""}`;
  document.getElementById("table").replaceChildren(
    element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...body.flat()));
}

// A row for each flow of an entry whose flows differ, under the entry's own.
function flowRows(link, entry, several) {
  const rows = entry.flows.map((flow, index) => {
    const life = `${shown(flow.start)} – ${shown(flow.end)} s`;
    const name = element("td", { className: "name" }, swatch({ entry, index, frame: false }), ` ${flow.name} `, element("small", {}, life));
    const cells = data.columns.map((column, n) => element("td", {}, cellText(flow.cells[n], column)));
    return element("tr", { className: "flow" }, ...(several ? [element("td", {})] : []), name, ...cells);
  });
  if (entry.flows_omitted) {
    const span = data.columns.length + (several ? 2 : 1);
    rows.push(element("tr", { className: "flow" }, element("td", { colSpan: span, className: "name" }, `and ${entry.flows_omitted} more flows`)));
  }
  return rows;
}

// Best among the controllers of its link, where they differ as shown.
function isBest(link, entry, column, n, text) {
  if (entry.role !== "contender" || entry.cells[n] === null) return false;
  const values = link.entries.filter((e) => e.role === "contender").map((e) => e.cells[n])
    .filter((v) => v !== null);
  const best = column.higher_is_better ? Math.max(...values) : Math.min(...values);
  const texts = values.map((v) => cellText(v, column));
  return text === cellText(best, column) && texts.some((t) => t !== text);
}

// Throughput and delay over many traces, against a base: tables and figures of each RTT and buffer.
import { data, element } from "./decode.js";

export function drawFrontiers() {
  const section = document.getElementById("frontier");
  section.hidden = !data.frontiers.length;
  const picture = (figure) => element("img",
    { className: "figure", alt: figure.title, src: `data:image/svg+xml;base64,${figure.svg}` });
  for (const frontier of data.frontiers) {
    for (const place of frontier.places) {
      section.append(element("h2", {}, place.title));
      if (place.together) section.append(picture(place.together));
      section.append(frontierTable(["controller", "throughput", "worst", "delay", "worst", "dominated"],
        place.rows.map((row) => [row.controller, ratio(row.throughput, row.half?.[0]), ratio(row.throughput_min),
          ratio(row.delay, row.half?.[1]), ratio(row.delay_max), `${row.dominated} of ${frontier.traces}`])));
      if (place.lines.length) {
        section.append(frontierTable(["delay on the line", ...place.lines[0].at.map((at) => `at ${at.throughput_ratio}`)],
          place.lines.map((line) => [line.controller, ...line.at.map((at) => ratio(at.queue_p95_ratio))])));
      }
      if (place.each.length) {
        section.append(element("details", {}, element("summary", {}, "Each trace"), ...place.each.map(picture),
          ...(place.omitted ? [element("p", { className: "note" },
            `There is no room for ${place.omitted} more: --figures draws all.`)] : [])));
      }
    }
  }
}

function ratio(value, half) {
  if (value === null) return "-";
  return value.toFixed(3) + (half ? ` ±${half.toFixed(3)}` : "");
}

function frontierTable(head, rows) {
  return element("div", { className: "scroll" }, element("table", { className: "frontier" },
    element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))),
    element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells.map((text) => element("td", {}, text)))))));
}

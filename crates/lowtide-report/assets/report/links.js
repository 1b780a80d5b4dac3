// Which link is shown, of those that were compared.
import { data, element } from "./decode.js";
import { drawTable } from "./table.js";
import { drawComparison } from "./comparison.js";
import { setUpFlow, drawChips, drawPanels } from "./flow.js";

let current = 0;

// The table asks for a link so.
addEventListener("showlink", ({ detail }) => showLink(detail));

export function showLink(at, keeps = false) {
  current = at;
  const link = data.links[at];
  document.getElementById("link").value = at;
  document.getElementById("setting").textContent = data.links.length > 1 ? `${link.name}: ${link.setting}` : link.setting;
  // The playground has no such line.
  const verdict = document.getElementById("verdict");
  if (verdict) verdict.textContent = link.verdict;
  drawComparison(link);
  setUpFlow(link, keeps);
}

// Colours are drawn into the plots, which must be drawn anew when they change.
export function redrawLink() {
  if (!data.links.length) return;
  drawComparison(data.links[current]);
  if (!document.getElementById("flow").hidden) { drawChips(); drawPanels(); }
}

// `keeps`: what the reader has chosen stays, as the same results come again with more of them.
export function setUpLinks({ keeps = false } = {}) {
  const several = data.links.length > 1;
  for (const id of ["results", "comparison", "flow"]) document.getElementById(id).hidden = !data.links.length;
  document.getElementById("link-choice").hidden = !several;
  if (!data.links.length) return;
  const choice = document.getElementById("link");
  choice.replaceChildren(...data.links.map((link, n) => element("option", { value: n }, link.name)));
  choice.onchange = () => showLink(Number(choice.value));
  const framed = data.links.some((link) => link.entries.some((entry) => entry.role !== "contender"));
  document.getElementById("table-note").textContent = "Bold: best of the controllers. "
    + (framed ? "“limit” knows the link's future; “best window” is the constant window with the highest throughput over p95 RTT. " : "")
    + (data.links.some((link) => link.entries.some((entry) => entry.flows.length))
      ? "A row under another is one of its flows, with its life: from its start until all that it had to send is acknowledged, or the run ends. Its rates are over its own life; its share is its part of the sum of all flows' rates. " : "")
    + "Click a heading to sort.";
  drawTable();
  showLink(0, keeps);
}

// The page as a whole: which link is shown, light and dark, print.
let current = 0;

function showLink(at) {
  current = at;
  const link = data.links[at];
  document.getElementById("link").value = at;
  document.getElementById("setting").textContent = data.links.length > 1 ? `${link.name}: ${link.setting}` : link.setting;
  drawComparison(link);
  setUpFlow(link);
}

// Colours are drawn into the plots, which must be drawn anew when they change.
function redraw() {
  if (data.links.length) drawComparison(data.links[current]);
  if (!document.getElementById("flow").hidden) { drawChips(); drawPanels(); }
  if (!document.getElementById("sweep").hidden) drawSweep();
}

function setUpLinks() {
  const several = data.links.length > 1;
  for (const id of ["results", "comparison", "flow"]) document.getElementById(id).hidden = !data.links.length;
  document.getElementById("link-choice").hidden = !several;
  if (!data.links.length) return;
  const choice = document.getElementById("link");
  data.links.forEach((link, n) => choice.append(element("option", { value: n }, link.name)));
  choice.onchange = () => showLink(Number(choice.value));
  const framed = data.links.some((link) => link.entries.some((entry) => entry.role !== "contender"));
  document.getElementById("table-note").textContent = "Bold: best of the controllers. "
    + (framed ? "“limit” knows the link's future; “best window” is the constant window with the highest throughput over p95 RTT. " : "")
    + (data.links.some((link) => link.entries.some((entry) => entry.flows.length))
      ? "A row under another is one of its flows, with its life: from its start until all that it had to send is acknowledged, or the run ends. Its rates are over its own life; its share is its part of the sum of all flows' rates. " : "")
    + "Click a heading to sort.";
  drawTable();
  showLink(0);
}

document.getElementById("about").textContent = data.about;
setUpLinks();
drawFrontiers();
drawPapers();
drawScores();
setUpSweeps();
prefersDark.addEventListener("change", redraw);
addEventListener("beforeprint", () => { printing = true; redraw(); });
addEventListener("afterprint", () => { printing = false; redraw(); });

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
  drawComparison(data.links[current]);
  if (!document.getElementById("flow").hidden) { drawChips(); drawPanels(); }
}

const choice = document.getElementById("link");
data.links.forEach((link, n) => choice.append(element("option", { value: n }, link.name)));
document.getElementById("link-choice").hidden = data.links.length < 2;
choice.onchange = () => showLink(Number(choice.value));
document.getElementById("table-note").textContent = "Bold: best of the controllers. “limit” knows the link's future; "
  + "“best window” is the constant window with the highest throughput over p95 RTT. Click a heading to sort.";
drawTable();
showLink(0);
prefersDark.addEventListener("change", redraw);
addEventListener("beforeprint", () => { printing = true; redraw(); });
addEventListener("afterprint", () => { printing = false; redraw(); });

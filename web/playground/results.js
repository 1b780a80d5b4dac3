// Results, drawn by the report's own scripts while they are made.
import { setData } from "./report/decode.js";
import { prefersDark, setPrinting } from "./report/look.js";
import { setUpLinks, redrawLink } from "./report/links.js";

const byId = (id) => document.getElementById(id);
// Between two drawings while runs are made, ms; longer where drawing takes long.
const PAUSE = 700;

let comparison = null, drawn = null, drawing = null, next = 0, scrolls = true;

export function setUpResults() {
  const redraw = () => { if (!byId("shown").hidden) redrawLink(); };
  prefersDark.addEventListener("change", redraw);
  addEventListener("beforeprint", () => { setPrinting(true); redraw(); });
  addEventListener("afterprint", () => { setPrinting(false); redraw(); });
}

// The comparison whose results are shown from now on. `goesThere`: the page scrolls to them where they are below.
export function show(shown, goesThere) {
  comparison?.close();
  comparison = shown;
  scrolls = goesThere;
  next = 0;
}

export function shown() {
  return comparison;
}

// Draws what is known; as soon as there has been a pause, unless it is the end.
export async function draw(isEnd) {
  if (drawing && !isEnd) return;
  await drawing;
  if (!isEnd && performance.now() < next) return;
  const of = comparison;
  drawing = (async () => {
    const text = await of.data();
    if (of !== comparison) return;
    const began = performance.now(), data = JSON.parse(text);
    if (!data.links[0].entries.length) return;
    const isFirst = byId("shown").hidden || of !== drawn;
    byId("empty").hidden = true;
    byId("shown").hidden = false;
    byId("to-results").hidden = false;
    byId("about").textContent = data.links[0].name;
    setData(data);
    setUpLinks({ keeps: of === drawn });
    drawn = of;
    // Below the form, where both have no room beside each other.
    if (isFirst && scrolls && matchMedia("(max-width: 60rem)").matches) byId("outcome").scrollIntoView();
    next = performance.now() + Math.max(PAUSE, 3 * (performance.now() - began));
  })();
  try {
    await drawing;
  } finally {
    drawing = null;
  }
}

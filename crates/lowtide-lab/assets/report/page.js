// The page as a whole: its data, light and dark, print.
import { data, setData } from "./decode.js";
import { prefersDark, setPrinting } from "./look.js";
import { setUpLinks, redrawLink } from "./links.js";
import { setUpSweeps, drawSweep } from "./sweep.js";
import { drawPapers } from "./papers.js";
import { drawFrontiers } from "./frontier.js";
import { drawScores } from "./scores.js";

function redraw() {
  redrawLink();
  if (!document.getElementById("sweep").hidden) drawSweep();
}

setData(JSON.parse(document.getElementById("data").textContent));
document.getElementById("about").textContent = data.about;
setUpLinks();
drawFrontiers();
drawPapers();
drawScores();
setUpSweeps();
prefersDark.addEventListener("change", redraw);
addEventListener("beforeprint", () => { setPrinting(true); redraw(); });
addEventListener("afterprint", () => { setPrinting(false); redraw(); });

// The page as a whole: its data, light and dark, print.
import { data, setData, element } from "./decode.js";
import { prefersDark, setPrinting } from "./look.js";
import { setUpLinks, redrawLink } from "./links.js";
import { setUpSweeps, drawSweep } from "./sweep.js";
import { drawPapers } from "./papers.js";
import { drawFrontiers } from "./frontier.js";
import { drawScores } from "./scores.js";

// What made the page, and when: the date that it was given, or else that of the file.
function made({ command, version, date }) {
  const file = location.protocol === "file:" ? new Date(document.lastModified) : null;
  const written = date ?? (file && !Number.isNaN(file.getTime()) ? file.toLocaleDateString("sv") : null);
  return [command ? element("code", {}, command) : "", ` Lowtide ${version}`, written ? `, ${written}` : ""];
}

function redraw() {
  redrawLink();
  if (!document.getElementById("sweep").hidden) drawSweep();
}

setData(JSON.parse(document.getElementById("data").textContent));
document.getElementById("about").textContent = data.about;
document.getElementById("made").append(...made(data.made));
setUpLinks();
drawFrontiers();
drawPapers();
drawScores();
setUpSweeps();
prefersDark.addEventListener("change", redraw);
addEventListener("beforeprint", () => { setPrinting(true); redraw(); });
addEventListener("afterprint", () => { setPrinting(false); redraw(); });

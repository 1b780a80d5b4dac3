// The papers run again: which claims hold, the figures, what was found.
import { data, element } from "./decode.js";
import { showSweep } from "./sweep.js";

const VERDICTS = [["yes", "holds"], ["partly", "partly"], ["no", "does not hold"]];
const papersView = { kinds: new Set(VERDICTS.map(([key]) => key)) };

export function drawPapers() {
  const section = document.getElementById("papers");
  section.hidden = !data.papers.length;
  if (section.hidden) return;
  const count = (paper, key) => paper.rows.filter((row) => row.holds === key).length;
  document.getElementById("verdicts").replaceChildren(...VERDICTS.map(([key, name]) => {
    const all = data.papers.reduce((sum, paper) => sum + count(paper, key), 0);
    const button = element("button", { type: "button", "aria-pressed": papersView.kinds.has(key) },
      element("span", { className: `verdict ${key}` }, name), `${all}`);
    button.onclick = () => {
      if (!papersView.kinds.delete(key)) papersView.kinds.add(key);
      drawPapers();
    };
    return button;
  }));
  const open = new Set([...document.querySelectorAll("#experiments details[open]")].map((d) => d.dataset.name));
  document.getElementById("experiments").replaceChildren(...data.papers.map((paper) => experiment(paper, count,
    open.has(paper.name) || data.papers.length === 1)));
}

function experiment(paper, count, open) {
  const summary = element("summary", {}, element("b", {}, paper.name), ` ${paper.paper} ${paper.place}`,
    ...VERDICTS.map(([key, name]) => [key, name, count(paper, key)]).filter(([, , n]) => n)
      .map(([key, name, n]) => element("span", { className: `verdict ${key}`, title: name }, `${n}`)));
  const details = element("details", { open }, summary);
  details.dataset.name = paper.name;
  const add = (text, head) => {
    if (text) details.append(element("p", {}, ...(head ? [element("b", {}, `${head} `)] : []), text));
  };
  add(paper.about);
  add(paper.reference);
  add(paper.stand_in, "Not the paper's:");
  add(paper.finding, "Found:");
  const rows = paper.rows.filter((row) => papersView.kinds.has(row.holds));
  const head = ["setting", "metric", "paper", "ours", "claim", "holds"];
  if (rows.length) {
    details.append(element("div", { className: "scroll" }, element("table", { className: "claims" },
      element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {},
        ...[row.setting, row.metric, row.paper, row.ours, row.claim].map((text) => element("td", {}, text)),
        element("td", {}, element("span", { className: `verdict ${row.holds}` }, VERDICTS.find(([key]) => key === row.holds)[1]))))))));
  }
  for (const figure of paper.figures) {
    details.append(element("img", { className: "figure", alt: figure.title, src: `data:image/svg+xml;base64,${figure.svg}` }));
  }
  for (const [claim, note] of paper.notes) add(note, `${claim}:`);
  for (const run of paper.failed) add(run, "Failed:");
  const grid = data.sweeps.findIndex((sweep) => sweep.name === paper.name);
  if (grid >= 0) {
    const button = element("button", { type: "button", className: "link" }, "All its cells");
    button.onclick = () => {
      showSweep(grid);
      document.getElementById("sweep").scrollIntoView();
    };
    details.append(element("p", {}, button));
  }
  return details;
}

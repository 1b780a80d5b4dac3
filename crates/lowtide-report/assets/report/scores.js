// Scorecards: a matrix of cases and controllers; a cell opens its limits, reasons and run.
import { data, shown, element } from "./decode.js";
import { showLink } from "./links.js";

// The classes of the style sheet, each with its own mark and border.
const VERDICT_CLASSES = { pass: "yes", fail: "no", undecided: "undecided", not_run: "not-run", "n/a": "not-applicable" };
const WORDS = { pass: "pass", fail: "fail", undecided: "undecided", not_run: "not run", "n/a": "n/a" };

// What a cell says: the value, where there is one that decides.
const said = (result) => result.shown ? (result.verdict === "undecided" ? `undecided: ${result.shown}` : result.shown)
  : WORDS[result.verdict];

export function drawScores() {
  const section = document.getElementById("scores");
  section.hidden = !data.scores.length;
  if (section.hidden) return;
  document.getElementById("scorecards").replaceChildren(...data.scores.map(scorecard));
}

function scorecard(card) {
  const shown = element("div", { className: "case" });
  const head = element("tr", {}, element("th", { scope: "col" }, "case"),
    ...card.controllers.map((c) => element("th", { scope: "col" }, c.name)));
  const rows = card.cases.map((one) => element("tr", {},
    element("th", { scope: "row" }, element("b", {}, one.id), ` ${one.title}`),
    ...one.results.map((result, n) => {
      const button = element("button", { type: "button", className: `verdict ${VERDICT_CLASSES[result.verdict]}`,
        title: `${card.controllers[n].name}, ${one.id}: ${WORDS[result.verdict]}` }, said(result));
      button.onclick = () => {
        shown.replaceChildren(...scoreCase(card, one, n));
        shown.scrollIntoView({ block: "nearest" });
      };
      return element("td", {}, button);
    })));
  const sums = element("tr", {}, element("th", { scope: "row" }, "passed"),
    ...card.controllers.map((c) => element("td", {}, `${c.passed} of ${c.applicable}`)));
  return element("div", {}, element("h2", {}, card.suite), element("p", {}, card.about),
    element("div", { className: "scroll" }, element("table", { className: "claims" },
      element("thead", {}, head), element("tbody", {}, ...rows, sums))), shown);
}

function scoreCase(card, one, n) {
  const result = one.results[n];
  const parts = [element("h3", {}, `${card.controllers[n].name}: ${one.id} ${one.title}`),
    element("p", { className: "note" }, one.source)];
  if (result.verdict === "not_run") parts.push(element("p", {}, `Not run: ${result.reason}`));
  else if (result.limits.length) {
    parts.push(element("div", { className: "scroll" }, element("table", { className: "claims" },
      element("thead", {}, element("tr", {}, ...["", "metric", "measured and limit", "where", "why this limit", "whose"]
        .map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, ...result.limits.map((limit) => element("tr", {},
        element("td", {}, element("span", { className: `verdict ${VERDICT_CLASSES[limit.verdict]}` }, WORDS[limit.verdict])),
        ...[limit.metric, limit.shown, limit.cell, limit.reason, limit.source].map((text) => element("td", {}, text))))))));
  } else {
    parts.push(element("p", {}, result.reason));
  }
  if (result.explanation.length) {
    parts.push(element("ul", {}, ...result.explanation.map((line) => element("li", {}, line))));
  }
  if (one.text) {
    parts.push(element("details", {}, element("summary", {}, "Scenario file"), element("pre", {}, one.text)));
  }
  if (result.link !== null) {
    const button = element("button", { type: "button", className: "link" }, "The run over time");
    button.onclick = () => {
      showLink(result.link);
      document.getElementById("flow").scrollIntoView();
    };
    parts.push(element("p", {}, button));
  }
  if (result.qlog !== null) {
    parts.push(element("p", {}, element("a", { href: result.qlog }, result.qlog)));
  }
  return parts;
}

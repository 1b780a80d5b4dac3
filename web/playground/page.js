// The playground: what is asked, run, shown and taken along.
import { load, compare, controllers, queues, models, scenarios } from "./lowtide/index.js";
import { makeForm, state, fill, settingOf, blame } from "./form.js";
import { toFragment, fromFragment } from "./fragment.js";
import { takeTraces, trace } from "./trace.js";
import { setUpResults, show, shown, draw } from "./results.js";

const byId = (id) => document.getElementById(id);
const say = (text) => { byId("status").textContent = text; };

let stopping = null;

function wrong(error) {
  blame(error.at ?? "", error.message);
  say("");
}

// The button runs and stops, so that the focus stays where it is.
function setRunning(on) {
  byId("run").textContent = on ? "Stop" : "Run";
  byId("run").classList.toggle("stops", on);
  document.body.classList.toggle("running", on);
}

async function run() {
  blame("", "");
  const asked = state(), given = trace();
  if (!asked.controllers.length) { wrong({ at: "controllers", message: "choose at least one" }); return; }
  const usesTrace = asked.values.kind === "trace";
  if (usesTrace && !given) { wrong({ at: "trace", message: "choose a file, or drop one on the page" }); return; }
  stopping = new AbortController();
  setRunning(true);
  say("Reading …");
  byId("progress").removeAttribute("value");
  let spoken = 0;
  const progress = (comparison) => {
    const { done, about } = comparison;
    byId("progress").value = done / about.runs;
    // A screen reader shall not read every number.
    if (performance.now() - spoken > 2000) {
      spoken = performance.now();
      say(`${done} of ${about.runs} runs done.`);
    }
    // What cannot be drawn now is drawn at the end.
    draw(false).catch(() => {});
  };
  const began = performance.now();
  try {
    const files = usesTrace ? { [given.name]: given.bytes } : {};
    const comparison = await compare(settingOf(asked, given?.name), asked.controllers, {
      files, signal: stopping.signal, onRun: progress,
      onOpen: (opened) => { show(opened); progress(opened); },
    });
    await draw(true);
    byId("progress").value = comparison.done / comparison.about.runs;
    const took = ((performance.now() - began) / 1000).toFixed(1);
    const failed = comparison.failed.length ? ` ${comparison.failed.length} failed: ${comparison.failed[0]}` : "";
    say(stopping.signal.aborted
      ? `Stopped after ${comparison.done} of ${comparison.about.runs} runs; what is known is shown.`
      : `Done: ${comparison.done} runs in ${took} s.${failed}`);
  } catch (error) {
    byId("progress").value = 0;
    if (stopping.signal.aborted) say("Stopped.");
    else wrong(error);
  } finally {
    setRunning(false);
    stopping = null;
  }
}

function save(text, name, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function share() {
  const now = state();
  history.replaceState(null, "", toFragment(now));
  const own = now.values.kind === "trace" ? " Your trace is not in it: send the file along." : "";
  try {
    await navigator.clipboard.writeText(location.href);
    byId("share-note").textContent = `Copied: the address has the setting, not the results.${own}`;
  } catch {
    byId("share-note").textContent = `The address of this page has the setting now, not the results: copy it.${own}`;
  }
}

// Takes the setting of the address, if it has one.
function takeFragment() {
  blame("", "");
  try {
    const given = fromFragment(location.hash);
    if (!given) return;
    const lost = fill(given);
    if (lost.length) blame("", `Of the setting in the address this was left out. ${lost.join(" ")}`);
    say(given.values.kind === "trace"
      ? "The setting of the address is filled in. Its trace is not part of an address: choose the file or drop it, then press Run."
      : "The setting of the address is filled in: press Run.");
  } catch (error) {
    blame("", error.message);
  }
}

async function begin() {
  byId("from-disk").hidden = true;
  try {
    await load();
  } catch (error) {
    say("");
    blame("", `The simulator cannot be loaded: ${error.message}`);
    return;
  }
  makeForm({ controllers: controllers(), queues: queues(), models: models(), scenarios: scenarios() });
  setUpResults();
  takeTraces(() => {
    blame("", "");
    byId("kind").value = "trace";
    byId("kind").onchange();
    say("The trace is here: press Run.");
  }, (problem) => blame("trace", problem));
  byId("question").onsubmit = (event) => {
    event.preventDefault();
    if (stopping) stopping.abort();
    else run();
  };
  byId("share").onclick = share;
  byId("save-report").onclick = async () => save(await shown().report(), "lowtide.html", "text/html");
  byId("save-json").onclick = async () => save(await shown().json(), "lowtide.json", "application/json");
  addEventListener("hashchange", takeFragment);
  byId("run").disabled = false;
  say("Ready.");
  takeFragment();
  performance.mark("interactive");
}

begin();

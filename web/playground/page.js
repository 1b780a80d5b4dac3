// The playground: what is asked, run, shown and taken along.
import { load, compare, controllers, queues, models, scenarios, knobs } from "./lowtide/index.js";
import { makeForm, state, fill, settingOf, blame } from "./form.js";
import { toFragment, fromFragment } from "./fragment.js";
import { pack, unpack } from "./carry.js";
import { takeTraces, setTrace, trace } from "./trace.js";
import { setUpResults, show, shown, draw } from "./results.js";

const byId = (id) => document.getElementById(id);
const say = (text) => { byId("status").textContent = text; };

let stopping = null, asked = 0;

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

// `goesThere`: whether the page scrolls to the results; not where nobody has asked for them.
async function run({ goesThere = true } = {}) {
  blame("", "");
  const chosen = state(), given = trace();
  if (!chosen.controllers.length) { wrong({ at: "controllers", message: "choose at least one" }); return; }
  const usesTrace = chosen.values.kind === "trace";
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
    const comparison = await compare(settingOf(chosen, given?.name), chosen.controllers, {
      files, signal: stopping.signal, onRun: progress,
      onOpen: (opened) => { show(opened, goesThere); progress(opened); },
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
  const now = state(), own = now.values.kind === "trace" && trace();
  const packed = own ? await pack(own.bytes) : null;
  if (packed) now.file = { name: own.name, trace: packed };
  history.replaceState(null, "", toFragment(now));
  const what = packed ? "the setting and your trace" : "the setting";
  const missing = own && !packed ? " Your trace is too large for an address: send the file along." : "";
  try {
    await navigator.clipboard.writeText(location.href);
    byId("share-note").textContent = `Copied: the address has ${what}, not the results.${missing}`;
  } catch {
    byId("share-note").textContent = `The address of this page now has ${what}, not the results: copy it.${missing}`;
  }
}

async function unpacked({ name, trace }) {
  try {
    return { name, bytes: await unpack(trace) };
  } catch {
    throw new Error("The trace in the address cannot be read: nothing of the address was taken.");
  }
}

// Takes the setting of the address, if it has one, and its trace.
async function takeFragment() {
  const turn = ++asked;
  blame("", "");
  try {
    const given = fromFragment(location.hash);
    if (!given) return;
    const file = given.file && await unpacked(given.file);
    // Another address may have come meanwhile.
    if (turn !== asked) return;
    if (file) setTrace(file);
    const lost = fill(given);
    if (lost.length) blame("", `Of the setting in the address this was left out. ${lost.join(" ")}`);
    say(given.values.kind === "trace" && !file
      ? "The form has the setting of the address. Its trace is not in the address: choose the file or drop it, then press Run."
      : "The form has the setting of the address. Press Run to start.");
  } catch (error) {
    if (turn === asked) blame("", error.message);
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
  makeForm({ controllers: controllers(), queues: queues(), models: models(), scenarios: scenarios(), knobs: knobs() });
  setUpResults();
  takeTraces(() => {
    blame("", "");
    byId("kind").value = "trace";
    byId("kind").onchange();
    say("The trace is read. Press Run to start.");
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
  performance.mark("interactive");
  // Nobody but the page itself has said what is run: an address of somebody else waits for its reader.
  if (location.hash.includes("=")) takeFragment();
  else run({ goesThere: false });
}

begin();

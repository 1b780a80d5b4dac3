// The form: made from what the simulator can do, read as a setting.
import { element } from "./report/decode.js";
import { FIELDS, ALL_FIELDS, makeFields } from "./fields.js";

// Those that are compared at first.
const FEW = ["ebb", "bbr", "bbr3", "copa", "cubic"];

const byId = (id) => document.getElementById(id);
let lists = null;

export function makeForm(catalogue) {
  lists = catalogue;
  makeKinds();
  makeFields(lists.knobs);
  for (const [place, fields] of Object.entries(FIELDS)) byId(place).append(...fields.map(fieldOf));
  byId("queue").append(...lists.queues.map((queue) => element("option", { value: queue.name }, queue.name)));
  byId("queue").onchange = showQueue;
  byId("kind").onchange = showKind;
  byId("controllers").append(...lists.controllers.map(controllerOf));
  for (const button of document.querySelectorAll("[data-choose]")) {
    button.onclick = () => choose(button.dataset.choose);
  }
  showQueue();
  choose("usual");
  showKind();
}

// Kinds of links: `scenario:4g`, `model:5g`, `rate`, `schedule`, `trace`.
function makeKinds() {
  const group = (label, options) => element("optgroup", { label }, ...options);
  const option = (value, text) => element("option", { value }, text);
  byId("kind").append(
    group("Scenarios", lists.scenarios.map((s) => option(`scenario:${s.name}`, s.name))),
    group("Generated", lists.models.map((m) => option(`model:${m.name}`, `${m.name}, ${m.mean_mbps.toFixed(0)} Mbit/s`))),
    group("Your own", [option("trace", "a trace file"), option("rate", "a constant rate"), option("schedule", "rates over time")]));
}

function fieldOf(field) {
  const id = `field-${field.key.replace(".", "-")}`;
  const words = field.takes === "nothing" ? ["yes"] : field.words ?? [];
  const input = words.length
    ? element("select", { id, name: field.key }, ...["", ...words].map((word) => element("option", { value: word }, word)))
    : element("input", { id, name: field.key, autocomplete: "off", spellcheck: false,
      inputMode: field.takes === "whole" ? "numeric" : "text", value: field.initial ?? "" });
  const children = [element("span", {}, field.label), input];
  if (field.about) {
    children.push(element("small", { id: `${id}-about` }, field.about));
    input.setAttribute("aria-describedby", `${id}-about`);
  }
  return element("label", { className: field.wide ? "wide" : "", "data-kinds": field.kinds?.join(" ") ?? "" }, ...children);
}

function kind() {
  const [name, of] = byId("kind").value.split(":");
  return { name, of };
}

// What is not typed has these values.
function defaults() {
  const { name, of } = kind();
  const sections = name === "scenario" ? lists.scenarios.find((s) => s.name === of).sections : {};
  const model = lists.models.find((m) => m.name === of);
  const varies = ["model", "trace"].includes(name) || (name === "scenario" && sections.link.model);
  return {
    rtt: sections.path?.rtt ?? "40ms", buffer: sections.link?.buffer ?? (varies ? "1200kB" : "2bdp"), flows: "1",
    duration: sections.run?.duration ?? (name === "trace" ? "the trace’s" : "30s"), model: model ? `${model.mean_mbps}mbit` : "",
  };
}

function showKind() {
  const { name, of } = kind();
  byId("drop").hidden = name !== "trace";
  const about = name === "scenario" ? lists.scenarios.find((s) => s.name === of).summary
    : name === "model" ? lists.models.find((m) => m.name === of).summary : "";
  byId("kind-note").textContent = about;
  for (const field of ALL_FIELDS) {
    const input = inputOf(field.key);
    if (field.kinds) input.closest("label").hidden = !field.kinds.includes(name);
    if (field.place) input.placeholder = defaults()[field.place] ?? field.place;
  }
}

function inputOf(key) {
  return document.getElementsByName(key)[0];
}

// Fields of a controller's or a queue's parameters.
function parametersOf(parameters, of) {
  return parameters.map((p) => {
    const name = `parameter ${p.name} of ${of}`;
    const input = p.words
      ? element("select", { "aria-label": name }, element("option", { value: "" }, `${p.default} (default)`),
        ...p.words.filter((word) => word !== p.default).map((word) => element("option", { value: word }, word)))
      : element("input", { "aria-label": name, placeholder: p.default, autocomplete: "off", spellcheck: false });
    input.dataset.parameter = p.name;
    return element("label", { title: `${p.summary} (${p.values})` }, element("span", {}, p.name), input, element("small", {}, `${p.summary} (${p.values})`));
  });
}

function specOf(name, within) {
  const given = [...within.querySelectorAll("[data-parameter]")].filter((input) => input.value.trim());
  return name + given.map((input, n) => `${n ? "," : ":"}${input.dataset.parameter}=${input.value.trim()}`).join("");
}

// Fills parameters from a spec; whether it has no others.
function fillSpec(spec, within) {
  const at = spec.indexOf(":");
  const said = new Map(at < 0 ? [] : spec.slice(at + 1).split(",").map((part) => {
    const [key, ...value] = part.split("=");
    return [key, value.join("=")];
  }));
  for (const input of within.querySelectorAll("[data-parameter]")) {
    const value = said.get(input.dataset.parameter) ?? "";
    said.delete(input.dataset.parameter);
    const words = input.tagName === "SELECT" ? [...input.options].map((o) => o.value) : null;
    input.value = value;
    if (words && !words.includes(value)) input.value = "";
  }
  return said.size === 0;
}

function showQueue() {
  const queue = lists.queues.find((q) => q.name === byId("queue").value);
  byId("queue-note").textContent = queue.summary;
  byId("queue-parameters").replaceChildren(...parametersOf(queue.parameters, queue.name));
}

function controllerOf(controller) {
  const check = element("input", { type: "checkbox", value: controller.name, name: "cc" });
  const item = element("li", {}, element("label", { title: controller.source }, check, element("b", {}, controller.name), element("span", {}, controller.summary)));
  if (controller.parameters.length) {
    const title = element("summary", {}, element("span", {}, "parameters"), element("span", { className: "unseen" }, ` of ${controller.name}`));
    const fields = parametersOf(controller.parameters, controller.name);
    item.append(element("details", {}, title, element("div", { className: "parameters" }, ...fields)));
  }
  return item;
}

function items() {
  return [...byId("controllers").children].map((item) => ({ item, check: item.querySelector("[name=cc]") }));
}

function choose(which) {
  for (const { check } of items()) {
    check.checked = which === "all" ? !["oracle", "window"].includes(check.value) : which === "usual" && FEW.includes(check.value);
  }
}

// All that is chosen: { values, controllers }, as the fragment has it.
export function state() {
  const { name } = kind();
  const values = { kind: byId("kind").value };
  const queue = specOf(byId("queue").value, byId("queue-parameters"));
  if (queue !== "droptail") values.queue = queue;
  for (const field of ALL_FIELDS) {
    const value = inputOf(field.key).value.trim();
    if (value && (field.kinds?.includes(name) ?? true)) values[field.key] = value;
  }
  const chosen = items().filter(({ check }) => check.checked);
  return { values, controllers: chosen.map(({ item, check }) => specOf(check.value, item)) };
}

// Fills the form. Returns what it has no place for, as sentences.
export function fill({ values, controllers }) {
  const lost = [];
  const options = [...byId("kind").options].map((option) => option.value);
  if (options.includes(values.kind)) byId("kind").value = values.kind;
  else if (values.kind) lost.push("There is no such kind of link.");
  const queue = (values.queue ?? "droptail").split(":")[0];
  if (lists.queues.some((q) => q.name === queue)) {
    byId("queue").value = queue;
    showQueue();
    fillSpec(values.queue ?? "droptail", byId("queue-parameters"));
  } else lost.push("There is no such queue.");
  for (const field of ALL_FIELDS) inputOf(field.key).value = values[field.key] ?? field.initial ?? "";
  byId("more-values").parentElement.open = FIELDS["more-values"].some((field) => values[field.key]);
  for (const { item, check } of items()) {
    const specs = controllers.filter((spec) => spec.split(":")[0] === check.value);
    check.checked = specs.length > 0;
    const whole = fillSpec(specs[0] ?? "", item);
    const details = item.querySelector("details");
    if (details) details.open = Boolean(specs[0]?.includes(":"));
    if (specs.length > 1 || !whole) lost.push(`Not all of what is said of ${check.value} fits here.`);
  }
  const known = items().map(({ check }) => check.value);
  if (controllers.some((spec) => !known.includes(spec.split(":")[0]))) lost.push("There is no controller of a name that it has.");
  showKind();
  return lost;
}

// The setting that the simulator is asked for; `trace`: the name of the file.
export function settingOf({ values }, trace) {
  const [name, of] = values.kind.split(":");
  const setting = {};
  if (name === "scenario") setting.scenario = of;
  if (name === "model") setting.link = { model: of, ...(values["link.mean"] ? { mean: values["link.mean"] } : {}) };
  if (name === "trace") setting.trace = trace;
  if (values.queue) setting.queue = values.queue;
  for (const field of ALL_FIELDS) {
    const value = values[field.key];
    if (!value || field.key.includes(".")) continue;
    setting[field.key] = { whole: Number(value), nothing: true }[field.takes] ?? value;
    if (field.takes === "whole" && !(/^\d+$/.test(value) && Number.isSafeInteger(setting[field.key]))) {
      throw Object.assign(new Error("must be a whole number"), { at: field.key });
    }
  }
  return setting;
}

// Says what is wrong, at the field that is to blame.
export function blame(at, problem) {
  for (const field of ALL_FIELDS) inputOf(field.key)?.removeAttribute("aria-invalid");
  for (const id of ["kind", "queue", "file"]) byId(id).removeAttribute("aria-invalid");
  if (!problem) { byId("problem").textContent = ""; return; }
  const key = at.replace(/^flows\.\d+\./, "flows.");
  const alias = { trace: "file", "link.trace": "file", link: "kind", "link.model": "kind", scenario: "kind" }[key] ?? key;
  const field = ALL_FIELDS.find((f) => f.key === alias || f.of === alias);
  const input = field ? inputOf(field.key) : byId(["kind", "queue", "file"].includes(alias) ? alias : "none");
  const label = field?.label ?? { kind: "Link", queue: "Queue", file: "Trace", controllers: "Controllers" }[alias] ?? "";
  byId("problem").textContent = label ? `${label}: ${problem}` : problem;
  if (!input) return;
  input.closest("details")?.setAttribute("open", "");
  input.setAttribute("aria-invalid", "true");
  input.focus();
}

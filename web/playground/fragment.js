// A setting as the fragment of an address, and back. What comes from an address is nobody's friend: only
// known names are taken, of bounded length and number, and their values go where typed ones go.
import { ALL_FIELDS } from "./fields.js";
import { MOST as TRACE } from "./carry.js";

const VERSION = "1";
// Of the text without a trace.
const MOST = { text: 8192, value: 200, controllers: 64 };
// A trace's contents, packed, and its name.
const FILE = ["trace", "name"];
const keys = () => ["kind", "queue", ...ALL_FIELDS.map((field) => field.key)];

// `state`: { values: { key: text }, controllers: [spec], file: { name, trace } or nothing }.
export function toFragment(state) {
  const said = new URLSearchParams({ v: VERSION });
  for (const key of keys()) if (state.values[key]) said.append(key, state.values[key]);
  for (const spec of state.controllers) said.append("cc", spec);
  // The end of a name says of what kind it is.
  if (state.file) said.append("name", state.file.name.slice(-MOST.value));
  if (state.file) said.append("trace", state.file.trace);
  return `#${said.toString().replaceAll("%3A", ":").replaceAll("%2C", ",")}`;
}

const tooLong = () => new Error("The address is too long for a setting: nothing of it was taken.");

// The state; null where the fragment says nothing. Throws a sentence where it is no setting of ours.
export function fromFragment(fragment) {
  const text = fragment.replace(/^#/, "");
  if (!text || !text.includes("=")) return null;
  if (text.length > MOST.text + TRACE.text) throw tooLong();
  const said = new URLSearchParams(text);
  if (said.get("v") !== VERSION) {
    throw new Error("The address has a setting of another version of the playground: nothing of it was taken.");
  }
  const [trace, name] = FILE.map((key) => said.get(key));
  if (text.length - (trace?.length ?? 0) > MOST.text || trace?.length > TRACE.text) throw tooLong();
  const state = { values: {}, controllers: said.getAll("cc") }, known = keys();
  if (trace && name) state.file = { name, trace };
  for (const [key, value] of said) {
    if (key !== "trace" && value.length > MOST.value) throw new Error("The address has a value that is too long: nothing of it was taken.");
    if (key === "v" || key === "cc" || FILE.includes(key)) continue;
    if (!known.includes(key)) throw new Error("The address names something that no setting has: nothing of it was taken.");
    state.values[key] = value;
  }
  if (state.controllers.length > MOST.controllers) throw new Error("The address names too many controllers: nothing of it was taken.");
  return state;
}

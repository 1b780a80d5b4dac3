// A setting as the fragment of an address, and back. What comes from an address is nobody's friend: only
// known names are taken, of bounded length and number, and their values go where typed ones go.
import { ALL_FIELDS } from "./fields.js";

const VERSION = "1";
const MOST = { text: 8192, value: 200, controllers: 64 };
const KEYS = ["kind", "queue", ...ALL_FIELDS.map((field) => field.key)];

// `state`: { values: { key: text }, controllers: [spec] }.
export function toFragment(state) {
  const said = new URLSearchParams({ v: VERSION });
  for (const key of KEYS) if (state.values[key]) said.append(key, state.values[key]);
  for (const spec of state.controllers) said.append("cc", spec);
  return `#${said.toString().replaceAll("%3A", ":").replaceAll("%2C", ",")}`;
}

// The state; null where the fragment says nothing. Throws a sentence where it is no setting of ours.
export function fromFragment(fragment) {
  const text = fragment.replace(/^#/, "");
  if (!text || !text.includes("=")) return null;
  if (text.length > MOST.text) throw new Error("The address is too long for a setting: nothing of it was taken.");
  const said = new URLSearchParams(text);
  if (said.get("v") !== VERSION) {
    throw new Error("The address has a setting of another version of the playground: nothing of it was taken.");
  }
  const state = { values: {}, controllers: said.getAll("cc") };
  for (const [key, value] of said) {
    if (value.length > MOST.value) throw new Error("The address has a value that is too long: nothing of it was taken.");
    if (key === "v" || key === "cc") continue;
    if (!KEYS.includes(key)) throw new Error("The address names something that no setting has: nothing of it was taken.");
    state.values[key] = value;
  }
  if (state.controllers.length > MOST.controllers) throw new Error("The address names too many controllers: nothing of it was taken.");
  return state;
}

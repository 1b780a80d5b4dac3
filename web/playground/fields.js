// The values of a setting that are typed. `key` is the name that the setting has for it, and the fragment.
// Those that stand apart, and how they look; the simulator's list says which there are besides.
const SHOWN = {
  "link-values": [
    { key: "rate", label: "Rate", initial: "20mbit", kinds: ["rate"] },
    { key: "schedule", label: "Rates over time", initial: "0s:20mbit,10s:5mbit,20s:20mbit", kinds: ["schedule"], wide: true },
    { key: "link.mean", label: "Mean rate", kinds: ["model"], place: "model" },
  ],
  "path-values": [
    { key: "rtt", label: "Round-trip time", place: "rtt" },
    { key: "buffer", label: "Buffer", place: "buffer", about: "as in 2bdp, 100p, 64kB, 50ms or inf" },
    { key: "flows", label: "Flows", place: "flows" },
    { key: "duration", label: "Duration", place: "duration" },
  ],
};

export let FIELDS = {}, ALL_FIELDS = [];

// Makes them of the list. Left out is what has a control of its own, what names a file, and what leaves no choice.
export function makeFields(knobs) {
  const known = knobs.map(({ name, key, ...rest }) => ({ ...rest, key: name, of: key,
    label: name[0].toUpperCase() + name.slice(1).replaceAll("_", " ") }));
  const apart = (field) => ({ ...known.find(({ key }) => key === field.key), about: "", ...field });
  FIELDS = Object.fromEntries(Object.entries(SHOWN).map(([place, fields]) => [place, fields.map(apart)]));
  const taken = ["scenario", "queue", ...Object.values(FIELDS).flat().map(({ key }) => key)];
  FIELDS["more-values"] = known.filter(({ key, words }) => !taken.includes(key) && !key.includes("trace") && words.length !== 1);
  ALL_FIELDS = Object.values(FIELDS).flat();
}

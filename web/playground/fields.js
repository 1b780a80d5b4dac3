// The values of a setting that are typed. `key` is the name that the setting has for it, and the fragment.
export const FIELDS = {
  "link-values": [
    { key: "rate", label: "Rate", initial: "20mbit", kinds: ["rate"] },
    { key: "schedule", label: "Rates over time", initial: "0s:20mbit,10s:5mbit,20s:20mbit", kinds: ["schedule"], wide: true },
    { key: "link.mean", label: "Mean rate", kinds: ["model"], place: "model" },
  ],
  "path-values": [
    { key: "rtt", label: "Round-trip time", place: "rtt" },
    { key: "buffer", label: "Buffer", place: "buffer", about: "as in 2bdp, 100p, 64kB, 50ms or inf" },
    { key: "flows", label: "Flows", place: "flows", whole: [1, 1000] },
    { key: "duration", label: "Duration", place: "duration" },
  ],
  "more-values": [
    { key: "loss", label: "Loss", place: "0%" },
    { key: "jitter", label: "Jitter, up to", place: "0ms" },
    { key: "stagger", label: "Between starts of flows", place: "0s" },
    { key: "source", label: "What each flow sends", place: "source", about: "as in bulk, 10MB, 2mbit, video:2mbit" },
    { key: "cross", label: "Traffic of others", place: "none", about: "as in web:30% or cbr:2mbit" },
    { key: "seeds", label: "Seeds", place: "1", whole: [1, 100] },
    { key: "seed", label: "First seed", place: "1", whole: [0, Number.MAX_SAFE_INTEGER] },
  ],
};

export const ALL_FIELDS = Object.values(FIELDS).flat();

// The report's numbers: half-precision floats in Base64, NaN for none (see report/series.rs).

// All that is shown (see report/data.rs). The page sets it before anything is drawn.
export let data = null;

export function setData(given) {
  data = given;
}

const halves = new Float32Array(65536);
for (let bits = 0; bits < 65536; bits++) {
  const exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const size = exponent === 0 ? fraction * 2 ** -24
    : exponent === 31 ? (fraction ? NaN : Infinity)
    : (1 + fraction / 1024) * 2 ** (exponent - 15);
  halves[bits] = bits & 0x8000 ? -size : size;
}

// A series as an array, null for none. Decoded once.
export function decode(series) {
  if (!series.values) {
    const raw = atob(series.v);
    const values = new Array(raw.length / 2);
    for (let n = 0; n < values.length; n++) {
      const half = halves[raw.charCodeAt(2 * n) | (raw.charCodeAt(2 * n + 1) << 8)];
      values[n] = Number.isNaN(half) ? null : half * series.scale;
    }
    series.values = values;
    delete series.v;
  }
  return series.values;
}

// Bins in which something happened, with how often (see report/series.rs).
export function decodeCounts(text) {
  const raw = atob(text), counts = [];
  for (let n = 0; n < raw.length; n += 3) {
    counts.push([raw.charCodeAt(n) | (raw.charCodeAt(n + 1) << 8), raw.charCodeAt(n + 2)]);
  }
  return counts;
}

// A value for people; no more digits than it deserves.
export function shown(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6) return value.toExponential(2);
  return value.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : 3);
}

// An element with attributes and children; text is never taken for tags.
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in made && name !== "title") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

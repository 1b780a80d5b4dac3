// A small trace as text in an address, and back: packed, then base64url. What comes from an address is
// nobody's friend: both forms of it are bounded.

// Characters that a packed trace has at most, and bytes of the trace itself.
export const MOST = { text: 24_000, bytes: 1 << 20 };

// How bytes are packed: as they are, or as what mahimahi's files are: milliseconds that never go back, a line each.
const PLAIN = "p", STEPS = "s";

async function through(bytes, stream, most = Infinity) {
  const parts = [];
  let length = 0;
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error("too long");
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

const deflated = (bytes) => through(bytes, new CompressionStream("deflate-raw"));
const inflated = (bytes) => through(bytes, new DecompressionStream("deflate-raw"), MOST.bytes);

// The steps from line to line, seven bits a byte; null where the lines are of another kind.
function steps(bytes) {
  const text = new TextDecoder().decode(bytes), out = [];
  if (!/^(\d{1,10}\n)+$/.test(text)) return null;
  let last = 0;
  for (const line of text.slice(0, -1).split("\n")) {
    let step = line - last;
    if (step < 0) return null;
    for (; step > 127; step = Math.floor(step / 128)) out.push((step % 128) | 128);
    out.push(step);
    last = Number(line);
  }
  return new Uint8Array(out);
}

function lines(steps) {
  let at = 0, step = 0, weight = 1, length = 0;
  const out = [];
  for (const byte of steps) {
    step += (byte & 127) * weight;
    weight *= 128;
    if (byte & 128) continue;
    at += step;
    [step, weight] = [0, 1];
    const line = `${at}\n`;
    length += line.length;
    if (length > MOST.bytes) throw new Error("too long");
    out.push(line);
  }
  return new TextEncoder().encode(out.join(""));
}

const isSame = (a, b) => a.length === b.length && a.every((byte, n) => byte === b[n]);

function toText(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function fromText(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
}

// The bytes as text; null where they are too many for an address.
export async function pack(bytes) {
  if (bytes.length > MOST.bytes) return null;
  const stepped = steps(bytes);
  // Leading zeros, say, do not come back.
  const kind = stepped && isSame(lines(stepped), bytes) ? STEPS : PLAIN;
  const text = kind + toText(await deflated(kind === STEPS ? stepped : bytes));
  return text.length <= MOST.text ? text : null;
}

// The bytes again. Throws where the text is none of ours.
export async function unpack(text) {
  const packed = await inflated(fromText(text.slice(1)));
  if (text[0] === STEPS) return lines(packed);
  if (text[0] === PLAIN) return packed;
  throw new Error("of no kind");
}

// A trace file: chosen or dropped, read once, kept in the page.
const MOST = 32 << 20;

const byId = (id) => document.getElementById(id);
let file = null;

// { name, bytes }, or null.
export function trace() {
  return file;
}

// Takes what an address brought along.
export function setTrace(given) {
  file = given;
  byId("file-name").textContent = `${file.name}, ${(file.bytes.length / 1e3).toFixed(0)} kB`;
}

// Calls `onTrace()` when there is a new one, `onProblem(text)` when it cannot be taken.
export function takeTraces(onTrace, onProblem) {
  const take = async (given) => {
    if (!given) return;
    if (given.size > MOST) {
      onProblem(`${given.name} has ${Math.ceil(given.size / (1 << 20))} MiB; the playground takes traces of up to ${MOST >> 20} MiB, the command line larger ones.`);
      return;
    }
    try {
      setTrace({ name: given.name, bytes: new Uint8Array(await given.arrayBuffer()) });
    } catch {
      onProblem(`${given.name} cannot be read; a folder is no trace.`);
      return;
    }
    onTrace();
  };
  byId("file").onchange = async ({ target }) => {
    await take(target.files[0]);
    // The same file may be chosen again when it has changed.
    target.value = "";
  };
  const over = (event) => {
    event.preventDefault();
    document.body.classList.toggle("dropping", event.type === "dragover");
  };
  addEventListener("dragover", over);
  addEventListener("dragleave", over);
  addEventListener("drop", (event) => { over(event); take(event.dataTransfer.files[0]); });
}

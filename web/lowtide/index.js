// Lowtide in a browser, or in Node.
import init, * as wasm from "./lowtide_wasm.js";
import { hasWorkers, instance, LowtideError } from "./instance.js";

export { LowtideError };

let compiled = null;

async function compile(source) {
  let from = source ?? new URL("./lowtide_wasm_bg.wasm", import.meta.url);
  if (from instanceof WebAssembly.Module) return from;
  if (from instanceof URL && from.protocol === "file:") {
    from = await (await import("node:fs/promises")).readFile(from);
  }
  if (!(from instanceof URL || typeof from === "string")) return WebAssembly.compile(from);
  const answer = await fetch(from);
  if (!answer.ok) throw new LowtideError({ at: "", problem: `${from}: ${answer.status} ${answer.statusText}` });
  const isNamed = answer.headers.get("content-type")?.startsWith("application/wasm");
  return isNamed ? WebAssembly.compileStreaming(answer) : WebAssembly.compile(await answer.arrayBuffer());
}

// Loads the module, once; what is below but `compare` needs it.
export function load(source) {
  compiled ??= compile(source).then(async (module) => {
    await init({ module_or_path: module });
    return module;
  });
  return compiled;
}

export const controllers = () => JSON.parse(wasm.controllers());
export const queues = () => JSON.parse(wasm.queues());
export const models = () => JSON.parse(wasm.models());
export const scenarios = () => JSON.parse(wasm.scenarios());
export const knobs = () => JSON.parse(wasm.knobs());

// A comparison whose runs are being made. One instance, the desk, knows what is due and takes what others
// have made.
class Comparison {
  #desk;
  #open;
  #makers = new Set();
  #stopped = false;

  constructor(desk, open, about) {
    this.#desk = desk;
    this.#open = open;
    this.about = about;
    this.done = 0;
    this.failed = [];
  }

  json() { return this.#desk.ask("json"); }
  data() { return this.#desk.ask("data"); }
  report() { return this.#desk.ask("report"); }

  // Makes no more runs; what is known stays.
  stop() {
    this.#stopped = true;
    for (const maker of this.#makers) maker.end();
  }

  // Gives back what it takes in memory.
  close() {
    this.stop();
    this.#desk.end();
  }

  async #maker() {
    const maker = hasWorkers ? instance() : this.#desk;
    this.#makers.add(maker);
    if (maker !== this.#desk) await maker.ask("open", this.#open);
    return maker;
  }

  async run(workers, onRun) {
    const due = await this.#desk.ask("due");
    let busy = 0, wake = [];
    const work = async () => {
      let maker = null;
      while (!this.#stopped) {
        if (!due.length) {
          // What others are about to finish may make more due.
          if (!busy) break;
          await new Promise((resolve) => wake.push(resolve));
          continue;
        }
        const run = due.shift();
        busy++;
        try {
          maker ??= await this.#maker();
          const bytes = await maker.ask("make", { run });
          await this.#desk.ask("take", { run, bytes }, hasWorkers ? [bytes.buffer] : []);
        } catch (error) {
          if (this.#stopped) break;
          if (error.broken) {
            // A new instance for the next run.
            maker?.end();
            if (maker === this.#desk) throw error;
            maker = null;
          }
          this.failed.push(error.message);
          await this.#desk.ask("fail", { run, reason: error.message });
        }
        this.done++;
        due.push(...await this.#desk.ask("due"));
        busy--;
        wake.splice(0).forEach((resolve) => resolve());
        onRun?.(this);
      }
      maker?.end();
      wake.splice(0).forEach((resolve) => resolve());
    };
    await Promise.all(Array.from({ length: workers }, work));
    return !this.#stopped;
  }
}

// Compares controllers in a setting; see index.d.ts.
export async function compare(setting, specs = [], options = {}) {
  const { files = {}, signal, onOpen, onRun } = options;
  const module = await load();
  signal?.throwIfAborted();
  const question = JSON.stringify({ setting, controllers: specs });
  const open = { module, question, files: Object.entries(files) };
  const desk = instance();
  const onAbort = () => desk.end();
  signal?.addEventListener("abort", onAbort);
  let comparison;
  try {
    comparison = new Comparison(desk, open, await desk.ask("open", open));
  } catch (error) {
    desk.end();
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
  onOpen?.(comparison);
  const cores = hasWorkers ? options.workers ?? navigator.hardwareConcurrency ?? 2 : 1;
  const stop = () => comparison.stop();
  signal?.addEventListener("abort", stop);
  await comparison.run(Math.max(1, Math.min(cores, comparison.about.runs)), onRun);
  signal?.removeEventListener("abort", stop);
  return comparison;
}

// Instances of the module that answer questions: in a worker each, or here where there are no workers.
import { answer } from "./calls.js";

// What is wrong with a question, a file or a run. `at` is the key of the setting that is to blame, or "".
export class LowtideError extends Error {
  constructor({ at, problem, broken }) {
    super(problem);
    this.name = "LowtideError";
    this.at = at;
    this.broken = Boolean(broken);
  }
}

class InWorker {
  #worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  #waiting = new Map();
  #next = 0;

  constructor() {
    this.#worker.onmessage = ({ data: { id, value, error } }) => {
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error) reject(new LowtideError(error));
      else resolve(value);
    };
    this.#worker.onerror = (event) => this.#refuse(event.message || "the worker cannot be started");
  }

  #refuse(problem) {
    for (const { reject } of this.#waiting.values()) reject(new LowtideError({ at: "", problem, broken: true }));
    this.#waiting.clear();
  }

  ask(call, args = {}, transfer = []) {
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, call, args }, transfer);
    });
  }

  // At once, whatever it is doing.
  end() {
    this.#worker.terminate();
    this.#refuse("stopped");
  }
}

class Here {
  async ask(call, args = {}) {
    const { value, error } = await answer(call, args);
    if (error) throw new LowtideError(error);
    return value;
  }

  end() {}
}

export const hasWorkers = typeof Worker === "function";

export function instance() {
  return hasWorkers ? new InWorker() : new Here();
}

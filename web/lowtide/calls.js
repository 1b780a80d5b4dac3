// What can be asked of an instance of the module, here or in a worker.
import init, { Comparison, Files, lastPanic } from "./lowtide_wasm.js";

let comparison = null;

const calls = {
  // The same question opens the same comparison in every instance.
  async open({ module, question, files }) {
    await init({ module_or_path: module });
    const given = new Files();
    for (const [name, bytes] of files) given.add(name, bytes);
    comparison?.free();
    comparison = null;
    comparison = new Comparison(question, given);
    given.free();
    return JSON.parse(comparison.about());
  },
  due: () => [...comparison.due()],
  make: ({ run }) => comparison.make(run),
  take: ({ run, bytes }) => comparison.take(run, bytes),
  fail: ({ run, reason }) => comparison.fail(run, reason),
  json: () => comparison.json(),
  data: () => comparison.data(),
  report: () => comparison.report(),
};

// What was thrown, as { at, problem, broken }; nothing more may be asked of an instance that is broken.
function described(error) {
  if (typeof error === "string") return { ...JSON.parse(error), broken: false };
  let problem = String(error?.message ?? error);
  try {
    problem = lastPanic() ?? problem;
  } catch {
    // The module was never there.
  }
  return { at: "", problem, broken: true };
}

// Answers { value } or { error }.
export async function answer(call, args) {
  try {
    return { value: await calls[call](args) };
  } catch (error) {
    return { error: described(error) };
  }
}

// An instance of the module in a worker.
import { answer } from "./calls.js";

addEventListener("message", async ({ data: { id, call, args } }) => {
  const answered = await answer(call, args);
  const bytes = answered.value instanceof Uint8Array ? [answered.value.buffer] : [];
  postMessage({ id, ...answered }, bytes);
});

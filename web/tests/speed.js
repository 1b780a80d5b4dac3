// How fast runs are made in one worker of Chromium, and how soon the page can be used: `node web/tests/speed.js`
// on Linux. `cargo run --release -p lowtide-wasm --example speed` makes the same runs as native code, and so does
// `lowtide compare --jobs 1` with the values of speed.json.
import { readFileSync, readdirSync } from "node:fs";
import { serve, launch } from "./browser.js";

const question = JSON.parse(readFileSync(new URL("./speed.json", import.meta.url)));

// Processor time of each worker of all browsers, in seconds: what else the machine does is not in it.
function workers() {
  const times = new Map();
  for (const process of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      for (const thread of readdirSync(`/proc/${process}/task`)) {
        const [, name, rest] = readFileSync(`/proc/${process}/task/${thread}/stat`, "utf8").match(/\((.*)\) (.*)/);
        const fields = rest.split(" ");
        if (name.startsWith("DedicatedWorker")) times.set(thread, (Number(fields[11]) + Number(fields[12])) / 100);
      }
    } catch {
      // It has ended meanwhile.
    }
  }
  return times;
}

const server = await serve();
const browser = await launch();
for (let round = 1; round <= 3; round++) {
  // Nothing is cached.
  const context = await browser.newContext();
  const page = await context.newPage();
  // With a setting in its address it runs nothing by itself.
  await page.goto(`${server.url}#v=1&cc=ebb`);
  await page.waitForFunction(() => performance.getEntriesByName("interactive").length);
  const times = new Map();
  const timer = setInterval(() => workers().forEach((time, thread) => times.set(thread, time)), 20);
  const seen = await page.evaluate(async ({ setting, controllers }) => {
    const { compare } = await import("./lowtide/index.js");
    const comparison = await compare(setting, controllers, { workers: 1 });
    const { simulated_packets } = JSON.parse(await comparison.json());
    const ms = (name) => performance.getEntriesByName(name)[0].startTime;
    return { simulated_packets, paint: ms("first-contentful-paint"), interactive: ms("interactive") };
  }, question);
  clearInterval(timer);
  const seconds = Math.max(...times.values());
  console.log(`${round}: ${seen.simulated_packets} packets in ${seconds} s of processor time, ${(seen.simulated_packets / seconds / 1e6).toFixed(2)} million `
    + `a second; first paint ${seen.paint.toFixed(0)} ms, interactive ${seen.interactive.toFixed(0)} ms`);
  await context.close();
}
await browser.close();
server.close();

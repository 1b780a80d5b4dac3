// How fast runs are made in one worker of Chromium, and how soon the page can be used: `node web/tests/speed.js`.
// `cargo run --release -p lowtide-wasm --example speed` makes the same runs as native code.
import { readFileSync } from "node:fs";
import { serve, launch } from "./browser.js";

const question = JSON.parse(readFileSync(new URL("./speed.json", import.meta.url)));
const server = await serve();
const browser = await launch();
for (let round = 1; round <= 3; round++) {
  // Nothing is cached.
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(server.url);
  await page.waitForFunction(() => performance.getEntriesByName("interactive").length);
  const seen = await page.evaluate(async ({ setting, controllers }) => {
    const { compare } = await import("./lowtide/index.js");
    let began = 0;
    const onOpen = () => { began = performance.now(); };
    const comparison = await compare(setting, controllers, { workers: 1, onOpen });
    const seconds = (performance.now() - began) / 1000;
    const { simulated_packets } = JSON.parse(await comparison.json());
    const ms = (name) => performance.getEntriesByName(name)[0].startTime;
    const { transferSize } = performance.getEntriesByType("navigation")[0];
    const bytes = performance.getEntriesByType("resource").reduce((sum, entry) => sum + entry.transferSize, transferSize);
    return { seconds, simulated_packets, paint: ms("first-contentful-paint"), interactive: ms("interactive"), bytes };
  }, question);
  const rate = seen.simulated_packets / seen.seconds / 1e6;
  console.log(`${round}: ${seen.simulated_packets} packets in ${seen.seconds.toFixed(3)} s, ${rate.toFixed(3)} million a second; `
    + `first paint ${seen.paint.toFixed(0)} ms, interactive ${seen.interactive.toFixed(0)} ms, ${seen.bytes} bytes loaded (not compressed)`);
  await context.close();
}
await browser.close();
server.close();

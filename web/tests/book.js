// What a first visitor of the book waits for, in headless Chromium: `node web/tests/book.js [FOLDER [SCREENSHOTS]]`, after
// `.ci/book`. Fast as this machine is, and with Lighthouse's "slow 4G" phone: 1.6 Mbit/s, 150 ms, a quarter of the processor.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { serve, launch } from "./browser.js";

const folder = process.argv[2] ?? new URL("../../target/book/", import.meta.url).pathname;
const screenshots = process.argv[3];
const PAGES = ["index.html", "guides/app.html", "results/ebb-frontier.html", "scorecards.html", "playground/index.html"];
const SPEEDS = {
  "this machine": null,
  "slow 4G phone": { latency: 150, downloadThroughput: 200_000, uploadThroughput: 94_000, processor: 4 },
};
const VIEWS = { light: ["light", 1280], dark: ["dark", 1280], phone: ["light", 420] };

// Collects what Lighthouse does, from before the page's own code on.
function observe() {
  const seen = { paint: 0, largest: 0, shift: 0, tasks: [] };
  window.seen = seen;
  const on = (type, take) => new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  on("paint", (e) => { if (e.name === "first-contentful-paint") seen.paint = e.startTime; });
  on("largest-contentful-paint", (e) => { seen.largest = e.startTime; });
  on("layout-shift", (e) => { if (!e.hadRecentInput) seen.shift += e.value; });
  on("longtask", (e) => seen.tasks.push([e.startTime, e.duration]));
}

async function measure(browser, url, speed) {
  // Nothing is cached.
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const tools = await context.newCDPSession(page);
  await tools.send("Network.enable");
  let bytes = 0;
  tools.on("Network.loadingFinished", (event) => { bytes += event.encodedDataLength; });
  if (speed) {
    await tools.send("Network.emulateNetworkConditions", { offline: false, ...speed });
    await tools.send("Emulation.setCPUThrottlingRate", { rate: speed.processor });
  }
  await page.addInitScript(observe);
  await page.goto(url, { waitUntil: "networkidle" });
  const seen = await page.evaluate(() => ({ ...window.seen, ready: performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd }));
  await context.close();
  const blocked = seen.tasks.filter(([start]) => start > seen.paint).reduce((sum, [, length]) => sum + length - 50, 0);
  const interactive = Math.max(seen.paint, seen.ready, ...seen.tasks.map(([start, length]) => start + length));
  return { ...seen, bytes, blocked, interactive };
}

const server = await serve(folder, { gzip: true });
const browser = await launch();
console.log("| page | | kB | first paint, ms | largest paint | interactive | blocked | layout shift |");
console.log("|---|---|---|---|---|---|---|---|");
for (const name of PAGES) {
  for (const [speed, conditions] of Object.entries(SPEEDS)) {
    const m = await measure(browser, server.url + name, conditions);
    const times = [m.paint, m.largest, m.interactive, m.blocked].map((ms) => ms.toFixed(0));
    console.log(`| ${name} | ${speed} | ${(m.bytes / 1000).toFixed(0)} | ${times.join(" | ")} | ${m.shift.toFixed(3)} |`);
  }
  if (screenshots) {
    mkdirSync(screenshots, { recursive: true });
    for (const [view, [colorScheme, width]] of Object.entries(VIEWS)) {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      const page = await context.newPage();
      await page.goto(server.url + name, { waitUntil: "networkidle" });
      await page.screenshot({ path: join(screenshots, `${name.replaceAll("/", "-")}.${view}.png`) });
      await context.close();
    }
  }
}
await browser.close();
server.close();

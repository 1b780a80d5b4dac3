// The playground in a real Chromium, served from a folder.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { join, normalize, extname } from "node:path";
import { chromium } from "playwright-core";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".svg": "image/svg+xml" };
const BROWSERS = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

export const folder = new URL("../dist/playground/", import.meta.url).pathname;

function executable() {
  if (process.env.LOWTIDE_CHROMIUM) return process.env.LOWTIDE_CHROMIUM;
  const found = process.env.PATH.split(":").flatMap((dir) => BROWSERS.map((name) => join(dir, name))).find(existsSync);
  if (!found) throw new Error("no Chromium found; install it or set LOWTIDE_CHROMIUM");
  return found;
}

// `gzip`: as hosts of static sites send it.
export async function serve(root = folder, { gzip = false } = {}) {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname);
    const file = join(root, path.endsWith("/") ? `${path}index.html` : path);
    try {
      const bytes = await readFile(file);
      const headers = { "content-type": TYPES[extname(file)] ?? "application/octet-stream" };
      if (gzip) headers["content-encoding"] = "gzip";
      response.writeHead(200, headers).end(gzip ? gzipSync(bytes) : bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

export function launch() {
  return chromium.launch({ executablePath: executable(), args: ["--no-sandbox"] });
}

// A page of the playground that is ready, its first comparison made if it makes one; `wrong` has all that went wrong in it.
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ acceptDownloads: true, viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) wrong.push(message.text()); });
  page.on("dialog", (dialog) => { wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.goto(url);
  await page.waitForFunction(() => { const run = document.getElementById("run"); return !run.disabled && run.textContent === "Run"; }, null, { timeout: 120_000 });
  return { page, wrong, close: () => context.close() };
}

export const status = (page) => page.textContent("#status");
export const problem = (page) => page.textContent("#problem");

// Runs, and waits for the end.
export async function run(page) {
  await page.click("#run");
  await page.waitForFunction(() => document.getElementById("run").textContent === "Run", null, { timeout: 120_000 });
}

export async function download(page, button) {
  const [file] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
  return readFile(await file.path(), "utf8");
}

// What a visitor of the playground does, and what somebody does who means harm.
import { test, before, after } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync, deflateRawSync } from "node:zlib";
import { serve, launch, open, run, download, status, problem, folder } from "./browser.js";

let server, browser, scratch;

before(async () => {
  server = await serve();
  browser = await launch();
  scratch = mkdtempSync(join(tmpdir(), "lowtide-web-"));
});

after(async () => {
  await browser?.close();
  server?.close();
  if (scratch) rmSync(scratch, { recursive: true });
});

// What the command line says.
function native(...args) {
  return execFileSync(process.env.LOWTIDE_BIN, args, { cwd: scratch, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

// A page with this fragment.
const at = (fragment, options) => open(browser, server.url + fragment, options);

function generated(name) {
  native("trace", "generate", "--model", "4g-mobility", "--duration", "8s", "--to", name.endsWith(".csv") ? "csv" : "mahimahi", "-o", name);
  return join(scratch, name);
}

// Puts a file onto the page.
async function drop(page, name, text) {
  const transfer = await page.evaluateHandle(([name, text]) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], name));
    return transfer;
  }, [name, text]);
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
  await page.waitForFunction((name) => document.getElementById("file-name").textContent.startsWith(name), name);
}

for (const [width, height] of [[1280, 720], [1280, 1000], [1920, 1080], [390, 844]]) {
  test(`${width}×${height}: on opening a first result is drawn, and Run is on the screen`, async () => {
    const { page, wrong, close } = await at("", { viewport: { width, height } });
    assert.match(await status(page), /^Done/);
    assert.ok(await page.locator("#table tbody tr").count() > 5);
    const isInside = (selector) => page.evaluate((selector) => {
      const { left, right, top, bottom } = document.querySelector(selector).getBoundingClientRect();
      return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
    }, selector);
    assert.equal(await page.evaluate(() => scrollY), 0, "nobody has asked to be taken elsewhere");
    assert.ok(await isInside("#run"));
    await page.mouse.wheel(0, 4000);
    await page.waitForFunction(() => scrollY > 500);
    assert.ok(await isInside("#run"), "after scrolling, too");
    await page.evaluate(() => document.getElementById("outcome").scrollIntoView());
    const heads = await page.locator("#table thead th").allTextContents();
    for (const head of ["Mbit/s", "p95"]) {
      assert.ok(await isInside(`#table tbody tr:nth-child(2) td:nth-child(${heads.indexOf(head) + 1})`), head);
    }
    assert.deepEqual(wrong, []);
    await close();
  });
}

for (const [what, fragment, flags] of [
  ["a generated link", "kind=scenario:4g&duration=8s&seeds=2&cc=ebb&cc=bbr&cc=rbbr",
    ["--duration", "8s", "--seeds", "2", "--cc", "ebb,bbr,rbbr"]],
  ["a queue that marks, losses and several flows",
    "kind=rate&rate=20mbit&rtt=30ms&queue=codel:target=8ms&loss=0.1%25&flows=3&stagger=1s&ack_every=4&jitter=2ms&reorder=yes&duration=8s&seed=7&cc=prague&cc=cubic:hystart=false",
    ["--rate", "20mbit", "--rtt", "30ms", "--queue", "codel:target=8ms", "--loss", "0.1%", "--flows", "3", "--stagger", "1s",
      "--ack-every", "4", "--jitter", "2ms", "--reorder", "--duration", "8s", "--seed", "7", "--cc", "prague,cubic:hystart=false"]],
]) {
  test(`${what}: the same JSON and the same report as from the command line, to the byte`, async () => {
    const { page, wrong, close } = await at(`#v=1&${fragment}`);
    await run(page);
    assert.match(await status(page), /^Done/);
    const [json, report] = [await download(page, "#save-json"), await download(page, "#save-report")];
    assert.equal(json, native("compare", "--json", "--no-timing", ...flags));
    native("compare", "--json", "--no-timing", "--report", "out", ...flags);
    // A page has no command to name.
    const made = (report) => report.replace(/"made":\{"command":"[^"]*"/, '"made":{"command":""');
    assert.equal(made(report), made(readFileSync(join(scratch, "out/index.html"), "utf8")));
    assert.deepEqual(wrong, []);
    await close();
  });
}

for (const name of ["walk.csv", "walk.down"]) {
  test(`a trace that is dropped is what the command line reads, and a small one travels in the address: ${name}`, async () => {
    const file = generated(name);
    const { page, wrong, close } = await at("#v=1&rtt=60ms&cc=ebb&cc=copa");
    await drop(page, name, readFileSync(file, "utf8"));
    await run(page);
    assert.match(await status(page), /^Done/);
    const json = await download(page, "#save-json");
    assert.equal(json, native("compare", "--json", "--no-timing", "--trace", name, "--rtt", "60ms", "--cc", "ebb,copa"));
    await page.click("#share");
    await page.waitForFunction(() => document.getElementById("share-note").textContent.includes("the setting and your trace"));
    assert.ok(page.url().length < 24_000 + 1000, `${page.url().length} characters`);
    const second = await at(new URL(page.url()).hash);
    await second.page.waitForFunction(() => document.getElementById("status").textContent.includes("Press Run"));
    assert.ok(await second.page.isHidden("#shown"), "what somebody else has sent does not run by itself");
    await run(second.page);
    assert.equal(await download(second.page, "#save-json"), json);
    assert.deepEqual([...wrong, ...second.wrong], []);
    await close();
    await second.close();
  });
}

test("a large trace stays out of the address, and the page says so", async () => {
  const { page, wrong, close } = await at("#v=1&cc=ebb");
  // What cannot be packed: steps of a generator of Park and Miller.
  let seed = 1, time = 0;
  const text = Array.from({ length: 40_000 }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    time += seed % 64;
    return `${time}\n`;
  }).join("");
  await drop(page, "large.down", text);
  await page.fill("[name=duration]", "1s");
  await run(page);
  await page.click("#share");
  await page.waitForFunction(() => document.getElementById("share-note").textContent.includes("too large for an address"));
  assert.match(page.url(), /kind=trace/);
  assert.ok(!page.url().includes("large"));
  assert.deepEqual(wrong, []);
  await close();
});

test("an address brings back the whole setting", async () => {
  const first = await at("");
  await first.page.selectOption("#kind", "model:4g-static");
  await first.page.fill("[name='link.mean']", "9mbit");
  await first.page.fill("[name=rtt]", "25ms");
  await first.page.selectOption("#queue", "fq_codel");
  await first.page.click("[data-choose=none]");
  await first.page.check("[value=cubic]");
  await first.page.locator("li", { has: first.page.locator("[value=cubic]") }).locator("summary").click();
  await first.page.selectOption("[aria-label='parameter hystart of cubic']", { index: 1 });
  await first.page.click("#question summary:has-text('More')");
  await first.page.fill("[name=cross]", "cbr:1mbit");
  await run(first.page);
  const results = await download(first.page, "#save-json");
  await first.page.click("#share");
  const second = await open(browser, first.page.url());
  await run(second.page);
  assert.equal(await download(second.page, "#save-json"), results);
  assert.match(results, /"cubic:hystart=/);
  assert.deepEqual([...first.wrong, ...second.wrong], []);
  await first.close();
  await second.close();
});

test("results are drawn while runs are made, Stop keeps them, and another run follows", async () => {
  const { page, wrong, close } = await at("#v=1&kind=scenario:4g&duration=600s&seeds=20&cc=ebb&cc=bbr&cc=cubic&cc=copa");
  await page.click("#run");
  await page.waitForSelector("#table tbody tr", { timeout: 120_000 });
  await page.waitForSelector("#plane canvas");
  await page.waitForSelector("#panel-rate canvas");
  await page.click("#run");
  await page.waitForFunction(() => document.getElementById("status").textContent.startsWith("Stopped after"));
  const found = JSON.parse(await download(page, "#save-json"));
  assert.ok(found.results.length >= 1);
  await page.fill("[name=duration]", "3s");
  await page.click("#question summary:has-text('More')", { trial: true });
  await page.fill("[name=seeds]", "1");
  await run(page);
  assert.match(await status(page), /^Done/);
  assert.equal(JSON.parse(await download(page, "#save-json")).duration_s, 3);
  assert.deepEqual(wrong, []);
  await close();
});

test("what is wrong is said at its field, and is bounded", async () => {
  const { page, wrong, close } = await at("");
  const said = async (key, value, words) => {
    const field = page.locator(`[name='${key}']`);
    await field.evaluate((input) => input.closest("details")?.setAttribute("open", ""));
    await field.fill(value);
    await run(page);
    assert.match(await problem(page), words);
    assert.equal(await field.getAttribute("aria-invalid"), "true");
    assert.equal(await page.evaluate(() => document.activeElement.name), key, "the focus is there");
    await field.fill("");
  };
  await said("rtt", "40", /unit/);
  await said("duration", "7200s", /at most an hour/);
  await said("duration", "99999999999999999999s", /./);
  await said("duration", "1e300s", /./);
  await said("flows", "1000000", /at most 1000/);
  await said("seeds", "-1", /whole number/);
  await said("loss", "500%", /./);
  await said("source", "<b>", /./);
  await page.selectOption("#kind", "rate");
  await page.fill("[name=rate]", "999999999gbit");
  await run(page);
  assert.match(await problem(page), /too long in a browser|rate/i);
  assert.deepEqual(wrong, []);
  await close();
});

test("nonsense as a trace: refused by its size, or by the reader, and the page goes on", async () => {
  const { page, wrong, close } = await at("#v=1&kind=trace&cc=ebb");
  await run(page);
  assert.match(await problem(page), /choose a file/);
  const name = join(scratch, "<img src=x onerror=alert(1)>.csv");
  const nonsense = Buffer.alloc(64 << 20, "\u0000<script>alert(1)</script>,,,\n");
  writeFileSync(name, nonsense);
  await page.setInputFiles("#file", name);
  assert.match(await problem(page), /64 MiB; the playground takes traces of up to 32 MiB/);
  for (const [size, start] of [[30 << 20, 0], [1 << 20, 1], [0, 0]]) {
    writeFileSync(name, nonsense.subarray(start, start + size));
    await page.setInputFiles("#file", name);
    await page.waitForFunction((size) => document.getElementById("file-name").textContent.endsWith(`${(size / 1e3).toFixed(0)} kB`), size);
    await run(page);
    assert.match(await problem(page), /^Trace: /);
  }
  // Opportunities without end, and one that is far too late.
  for (const text of ["5\n".repeat(1 << 20), "1\n99999999999999999\n", "1\n2\n-3\n", "time_ms,rate_kbps\n0,1e999\n1,5\n"]) {
    const file = join(scratch, "strange.csv");
    writeFileSync(file, text);
    await page.setInputFiles("#file", file);
    await page.waitForFunction(() => document.getElementById("file-name").textContent.startsWith("strange"));
    await run(page);
    assert.match((await problem(page)) + (await status(page)), /^Trace: |^Done/);
  }
  const named = generated("walk.csv");
  writeFileSync(name, readFileSync(named));
  await page.setInputFiles("#file", name);
  await page.waitForFunction(() => document.getElementById("file-name").textContent.startsWith("<img"));
  await run(page);
  assert.match(await status(page), /^Done/);
  assert.equal(await page.locator("img").count(), 0, "no tag comes from a name");
  assert.ok((await page.textContent("#about")).includes("<img src=x"));
  assert.deepEqual(wrong, []);
  await close();
});

test("addresses from elsewhere change nothing but what a person could type", async () => {
  const { page, wrong, close } = await at("");
  const hashes = [
    ["#v=2&rtt=1ms", /another version/],
    ["#v=1&rtt=1ms&__proto__=x", /no setting has/],
    ["#v=1&constructor=x", /no setting has/],
    [`#v=1&rtt=${"9".repeat(500)}`, /too long/],
    [`#v=1&cc=${"x&cc=".repeat(3000)}`, /too long/],
    [`#v=1&${"cc=x&".repeat(100)}`, /too many/],
    ["#v=1&kind=javascript:alert(1)&queue=<svg>&cc=<img src=x onerror=alert(1)>", /no such kind.*no such queue.*no controller/],
    ["#v=1&cc=ebb:nothing=1", /ebb/],
    [`#v=1&kind=trace&name=a&trace=${"s".repeat(24_001)}`, /too long/],
    ["#v=1&kind=trace&name=a&trace=p****", /cannot be read/],
    ["#v=1&kind=trace&name=a&trace=xAA", /cannot be read/],
    [`#v=1&kind=trace&name=a&trace=p${deflateRawSync(Buffer.alloc(8 << 20)).toString("base64url")}`, /cannot be read/],
    [`#v=1&kind=trace&name=a&trace=s${deflateRawSync(Buffer.alloc(1 << 20)).toString("base64url")}`, /cannot be read/],
    ["#%E0%A4%A&=&=&v=1", /./],
  ];
  for (const [hash, words] of hashes) {
    await page.evaluate((hash) => { document.getElementById("problem").textContent = ""; location.hash = hash; }, hash);
    await page.waitForFunction(() => document.getElementById("problem").textContent !== "");
    assert.match(await problem(page), words, hash);
  }
  await page.evaluate(() => { location.hash = "#v=1&kind=rate&rate=%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E&cc=bbr"; });
  await page.waitForFunction(() => document.getElementsByName("rate")[0].value.includes("<img"));
  await run(page);
  assert.match(await problem(page), /^Rate: /);
  assert.equal(await page.locator("img").count(), 0);
  assert.deepEqual(wrong, []);
  await close();
});

test("everything has a name and can be reached and run by keys alone", async () => {
  const { page, wrong, close } = await at("#v=1&duration=2s&cc=ebb&cc=bbr");
  const nameless = await page.evaluate(() => [...document.querySelectorAll("input, select, button")]
    .filter((control) => !(control.labels?.length || control.getAttribute("aria-label") || control.textContent.trim()))
    .map((control) => control.outerHTML));
  assert.deepEqual(nameless, []);
  await page.focus("#kind");
  let steps = 0;
  while (await page.evaluate(() => document.activeElement.id !== "run")) {
    assert.ok(steps++ < 200, "Run is behind all controllers");
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("status").textContent.startsWith("Done"));
  assert.equal(await page.evaluate(() => document.activeElement.id), "run", "the focus stays");
  assert.equal(await page.getAttribute("#status", "role"), "status");
  assert.ok(await page.evaluate(() => [...document.querySelectorAll("#shown canvas[role=img]")].every((c) => c.getAttribute("aria-label"))));
  assert.deepEqual(wrong, []);
  await close();
});

test("light and dark, on a desk and on a phone, nothing is cut off", async () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 420]) {
      const { page, wrong, close } = await at("#v=1&duration=3s&cc=ebb&cc=bbr&cc=cubic", { colorScheme, viewport: { width, height: 900 } });
      const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(paper, colorScheme === "dark" ? "rgb(22, 24, 27)" : "rgb(255, 255, 255)");
      if (process.env.LOWTIDE_SHOTS) await page.screenshot({ path: join(process.env.LOWTIDE_SHOTS, `form-${colorScheme}-${width}.png`), fullPage: true });
      const below = await page.evaluate(() => document.documentElement.scrollHeight - document.querySelector(".columns").getBoundingClientRect().bottom - scrollY);
      assert.ok(below < 300, `${below} empty pixels below`);
      await run(page);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${wide} pixels too wide at ${width}`);
      if (process.env.LOWTIDE_SHOTS) await page.screenshot({ path: join(process.env.LOWTIDE_SHOTS, `done-${colorScheme}-${width}.png`), fullPage: true });
      assert.deepEqual(wrong, []);
      await close();
    }
  }
});

test("from disk the page says what to do", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`file://${folder}index.html`);
  await page.waitForSelector("#from-disk", { state: "visible" });
  const text = await page.locator("body").innerText();
  assert.match(text, /python3 -m http\.server/);
  await context.close();
});

test("the first load is below 3 MB compressed", () => {
  const files = readdirSync(folder, { recursive: true }).map((name) => join(folder, name)).filter((name) => statSync(name).isFile());
  const loaded = files.filter((name) => /\.(html|css|js|wasm)$/.test(name));
  const size = loaded.map((name) => gzipSync(readFileSync(name)).length).reduce((a, b) => a + b);
  assert.ok(size < 3_000_000, `${size} bytes`);
});

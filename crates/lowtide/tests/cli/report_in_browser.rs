//! Reports in headless Chromium, opened from disk. Without Chromium the tests say so and pass.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::program::{Folder, has, number};

/// Looked for in this order where `LOWTIDE_CHROMIUM` names none.
const BROWSERS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
];

fn browser() -> Option<PathBuf> {
    if let Some(named) = env::var_os("LOWTIDE_CHROMIUM") {
        return Some(named.into());
    }
    let path = env::var_os("PATH")?;
    let found = env::split_paths(&path)
        .flat_map(|dir| BROWSERS.map(|name| dir.join(name)))
        .find(|candidate| candidate.is_file());
    if found.is_none() {
        eprintln!("skipped: no Chromium found; install it or set LOWTIDE_CHROMIUM");
    }
    found
}

/// A report and the browser in which it is looked at.
struct Report {
    browser: PathBuf,
    folder: Folder,
}

/// The report of a command that runs in this folder and has this exit code; `None` without a
/// browser.
fn report_in(folder: Folder, line: &str, code: i32) -> Option<Report> {
    let browser = browser()?;
    folder.run(&format!("{line} --report report")).code(code);
    Some(Report { browser, folder })
}

fn report(line: &str) -> Option<Report> {
    report_in(Folder::new(), line, 0)
}

/// The report of a command on a scenario file with this text, which it names as `FILE`.
fn report_on(text: &str, line: &str) -> Option<Report> {
    let folder = Folder::with("grid <b>&.toml", text);
    report_in(folder, &line.replace("FILE", "'grid <b>&.toml'"), 0)
}

/// Notes what goes wrong from the first line of the page on.
const WATCH: &str = r"<script>
window.wrong = [];
addEventListener('error', (e) => wrong.push('error: ' + e.message));
addEventListener('unhandledrejection', (e) => wrong.push('rejection: ' + e.reason));
for (const level of ['error', 'warn']) {
  console[level] = (...parts) => wrong.push(level + ': ' + parts.join(' '));
}
window.alert = (text) => wrong.push('alert: ' + text);
</script>";

/// What a person does, and what is to be seen.
const HANDS: &str = r#"
const frame = () => new Promise((done) => setTimeout(done, 50));
const all = (query) => [...document.querySelectorAll(query)];
const range = () => document.querySelector('#range').textContent;
// How many different colours a plot shows: an empty one has its background only.
const colours = (canvas) => {
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  return new Set(new Uint32Array(pixels.buffer)).size;
};
const picture = (id) => document.querySelector('#' + id + ' canvas').toDataURL();
const chip = (text) => all('.chips button').find((b) => b.textContent === text);
const legend = (id) => all('#' + id + ' .u-series:not(.edge) .u-label').map((l) => l.textContent);
const drag = async (id, from, to) => {
  const over = document.querySelector('#' + id + ' .u-over');
  const box = over.getBoundingClientRect();
  const event = (type, share) => over.dispatchEvent(new MouseEvent(type, { bubbles: true, button: 0, movementX: 9,
    clientX: box.left + box.width * share, clientY: box.top + box.height / 2 }));
  event('mouseenter', from); event('mousemove', from); event('mousedown', from);
  event('mousemove', to); await frame(); event('mouseup', to); await frame();
};
"#;

impl Report {
    /// Opens the report, runs `script` (which returns a value) in it, and returns the value. Fails
    /// on any error or warning of the page.
    fn look(&self, dark: bool, script: &str) -> Value {
        let html = self.folder.read("report/index.html");
        assert!(html.len() < 5_000_000, "{} bytes", html.len());
        let hands = format!(
            "<script>addEventListener('load', async () => {{ {HANDS}
           let value = null;
           try {{ await frame(); value = await (async () => {{ {script} }})(); }}
           catch (e) {{ wrong.push('script: ' + e); }}
           const outcome = document.createElement('pre');
           outcome.id = 'outcome';
           outcome.textContent = encodeURIComponent(JSON.stringify({{ value, wrong }}));
           document.body.replaceChildren(outcome);
         }});</script></body>"
        );
        let page = html
            .replacen("<head>", &format!("<head>{WATCH}"), 1)
            .replacen("</body>", &hands, 1);
        let path = self.folder.at("report/watched.html");
        fs::write(&path, page).unwrap();
        let profile = tempfile::tempdir().unwrap();
        let mut command = Command::new(&self.browser);
        command
            .args(["--headless", "--no-sandbox", "--disable-gpu"])
            .args(["--no-first-run", "--window-size=1280,900"])
            .args(["--virtual-time-budget=20000", "--dump-dom"])
            .arg(format!("--user-data-dir={}", profile.path().display()));
        if dark {
            command.arg("--blink-settings=preferredColorScheme=0");
        }
        let output = command
            .arg(format!("file://{}", path.display()))
            .output()
            .unwrap();
        let dom = String::from_utf8_lossy(&output.stdout);
        let outcome = dom
            .split_once("<pre id=\"outcome\">")
            .and_then(|(_, rest)| rest.split_once("</pre>"))
            .unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)))
            .0;
        let json: Value = serde_json::from_str(&decoded(outcome)).unwrap();
        assert_eq!(json["wrong"], Value::Array(Vec::new()));
        json["value"].clone()
    }
}

/// Undoes `encodeURIComponent`.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let hex = [rest.next().unwrap(), rest.next().unwrap()];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&hex).unwrap(), 16).unwrap());
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// Every panel with how many colours it shows.
const PANELS: &str = "return all('.panel').filter((p) => p.offsetParent)
    .map((p) => [p.id, colours(p.querySelector('canvas'))]);";

fn assert_panels(panels: &Value, expected: &[&str]) {
    let panels = panels.as_array().unwrap();
    for id in expected {
        let panel = panels.iter().find(|p| p[0] == *id);
        let colours = panel.unwrap_or_else(|| panic!("no {id} in {panels:?}"))[1].as_u64();
        assert!(
            colours.unwrap() > 10,
            "{id} shows nothing but axes: {colours:?}"
        );
    }
}

const OVER_TIME: [&str; 6] = [
    "panel-rate",
    "panel-rtt",
    "panel-sojourn",
    "panel-queue",
    "panel-window",
    "panel-phases",
];

#[test]
fn a_single_run_shows_all_its_panels_light_and_dark() {
    let Some(report) = report("compare --cc bbr-s --duration 10s") else {
        return;
    };
    for dark in [false, true] {
        let panels = report.look(dark, PANELS);
        assert_panels(&panels, &OVER_TIME);
        assert_panels(&panels, &["plane", "rtt-cdf", "delay-cdf"]);
        let paper = "return getComputedStyle(document.body).backgroundColor;";
        let is_dark = report.look(dark, paper) == "rgb(22, 24, 27)";
        assert_eq!(is_dark, dark);
    }
}

#[test]
fn zoom_is_linked_and_names_switch_lines_everywhere() {
    let compare = "compare --cc bbr-s,cubic --duration 10s --seeds 3";
    let Some(report) = report(compare) else {
        return;
    };
    let seen = report.look(
        false,
        "const steps = [range()];
         const before = OTHERS.map(picture);
         await drag('panel-rate', 0.25, 0.5);
         steps.push(range());
         const after = OTHERS.map(picture);
         const moved = OTHERS.filter((_, n) => before[n] !== after[n]);
         document.querySelector('[data-zoom=all]').click(); await frame();
         steps.push(range());
         document.querySelector('[data-zoom=in]').click(); await frame();
         steps.push(range());
         const both = legend('panel-rtt');
         chip('cubic').click(); await frame();
         const one = [legend('panel-rtt'), legend('panel-queue'), range()];
         const hidden = document.querySelector('#panel-gain') === null;
         chip('filter internals').click(); await frame();
         return { steps, moved, both, one, hidden, filter: legend('panel-noise'),
                  gain: colours(document.querySelector('#panel-gain canvas')) };"
            .replace(
                "OTHERS",
                "['panel-rtt', 'panel-queue', 'panel-window', 'panel-phases']",
            )
            .as_str(),
    );
    assert_eq!(seen["steps"][0], "0 – 10.00 s");
    let zoomed = seen["steps"][1].as_str().unwrap();
    let from: f64 = zoomed.split(' ').next().unwrap().parse().unwrap();
    assert!(
        (from - 2.5).abs() < 0.1,
        "a quarter from the left: {zoomed}"
    );
    assert_eq!(seen["moved"].as_array().unwrap().len(), 4, "all follow");
    assert_eq!(seen["steps"][2], "0 – 10.00 s");
    assert_eq!(seen["steps"][3], "2.50 – 7.50 s");
    assert_eq!(seen["both"], json!(["time, s", "bbr-s", "cubic"]));
    assert_eq!(seen["one"][0], json!(["time, s", "bbr-s"]));
    assert_eq!(seen["one"][1], json!(["time, s", "bbr-s"]));
    assert_eq!(seen["one"][2], "2.50 – 7.50 s", "stays zoomed");
    assert_eq!(seen["hidden"], true, "filter internals come on demand");
    assert!(number(&seen, "gain") > 10.0);
    assert_eq!(seen["filter"], json!(["time, s", "bbr-s √Q", "bbr-s √R"]));
}

#[test]
fn several_flows_show_fairness_and_each_flow() {
    let compare = "compare --cc bbr,cubic --rate 20mbit --buffer 2bdp --flows 3 --stagger 3s \
                   --duration 15s";
    let Some(report) = report(compare) else {
        return;
    };
    let panels = report.look(false, PANELS);
    assert_panels(&panels, &OVER_TIME);
    assert_panels(&panels, &["jain"]);
    let seen = report.look(
        false,
        "const subject = document.querySelector('#subject');
         const names = [...subject.options].map((o) => o.textContent);
         subject.selectedIndex = names.indexOf('the flows of cubic');
         subject.onchange(); await frame();
         return { names, flows: legend('panel-rtt'), shares: legend('shares'),
                  rate: colours(document.querySelector('#panel-rate canvas')) };",
    );
    assert_eq!(
        seen["flows"],
        json!(["time, s", "flow 1", "flow 2", "flow 3"])
    );
    assert_eq!(
        seen["shares"],
        json!(["time, s", "flow 1", "flow 2", "flow 3"])
    );
    assert!(number(&seen, "rate") > 10.0);
}

#[test]
fn several_links_share_a_sorted_table_and_hostile_names_stay_text() {
    let hostile = "<img src=x onerror=alert(1)><script>alert(2)<&amp;.csv";
    let folder = Folder::with(hostile, "time_ms,rate_mbps\n0,5\n500,9\n1000,2\n");
    folder.write("tame.csv", "time_ms,rate_mbps\n0,3\n500,4\n1000,6\n");
    let traces = format!("--trace tame.csv --trace '{hostile}'");
    let compare = format!("compare --cc bbr,cubic --duration 5s {traces}");
    let Some(report) = report_in(folder, &compare, 0) else {
        return;
    };
    let seen = report.look(false, "const column = (n) => all('#table tbody tr').map((r) => r.children[n].firstChild.textContent);
         all('#table th button').find((b) => b.textContent === 'p95').click();
         const up = column(5).map(Number);
         all('#table th button').find((b) => b.textContent === 'p95').click();
         const down = column(5).map(Number);
         const links = [...document.querySelector('#link').options].map((o) => o.textContent);
         const choice = document.querySelector('#link');
         choice.selectedIndex = 1; choice.onchange(); await frame();
         return { up, down, links, images: all('img').length, best: all('td.best').length,
                  setting: document.querySelector('#setting').textContent,
                  drawn: colours(document.querySelector('#panel-rate canvas')) };",
    );
    let numbers = |key: &str| -> Vec<f64> {
        let values = seen[key].as_array().unwrap();
        values.iter().map(|v| v.as_f64().unwrap()).collect()
    };
    assert_eq!(numbers("up").len(), 8);
    assert!(numbers("up").is_sorted());
    assert!(numbers("down").is_sorted_by(|a, b| a >= b));
    assert!(number(&seen, "best") >= 2.0, "one a link at least");
    assert_eq!(seen["links"][1], hostile);
    assert!(seen["setting"].as_str().unwrap().starts_with(hostile));
    assert_eq!(seen["images"], 0, "no tag came from a name");
    assert!(number(&seen, "drawn") > 10.0);
}

/// What a person sees and does in the view of sweeps.
const GRID: &str = r#"
const select = (label) => all('#sweep-fields label').find((l) => l.textContent.startsWith(label + ' ')).querySelector('select');
const options = (label) => [...select(label).options].map((o) => o.textContent);
const choose = async (label, text) => {
  const chosen = select(label);
  chosen.selectedIndex = options(label).indexOf(text);
  chosen.onchange(); await frame();
};
const press = async (text) => { all('#sweep button').find((b) => b.textContent === text).click(); await frame(); };
const pictures = () => all('#sweep-panels canvas').map((c) => c.toDataURL());
const tiles = () => all('#sweep-panels .tile h3').map((h) => h.textContent);
const heat = () => all('#sweep-panels .heat').map((t) => [...t.querySelectorAll('td')].map((c) => c.firstChild.textContent));
"#;

#[test]
fn a_sweep_of_one_field_is_drawn_as_lines_light_and_dark() {
    let text = r#"
        link = { rate = "10mbit" }
        run = { duration = "4s", seeds = 2 }
        flows = [{ controller = "bbr" }]
        [sweep]
        "flows.controller" = ["bbr", "cubic"]
        "link.buffer" = ["0.5bdp", "2bdp", "8bdp"]
        "#;
    let Some(report) = report_on(text, "sweep FILE --output results") else {
        return;
    };
    for dark in [false, true] {
        let seen = report.look(dark, &format!(
                "{GRID}
                 const drawn = colours(document.querySelector('#sweep-panels canvas'));
                 const values = options('Value'), before = pictures();
                 await choose('Value', '95th percentile of the RTT, ms');
                 const other = pictures();
                 await press('cubic');
                 const fewer = pictures(), left = legend('sweep-panels');
                 const cells = all('#cells tbody tr').map((r) => r.children[2].textContent);
                 return {{ drawn, values, left, cells, title: document.querySelector('h1').textContent,
                   changed: [before[0] !== other[0], other[0] !== fewer[0]],
                   bold: all('b').length, wide: document.documentElement.scrollWidth <= innerWidth }};"
            ),
        );
        assert!(number(&seen, "drawn") > 10.0, "{seen}");
        assert_eq!(seen["changed"], json!([true, true]));
        assert_eq!(seen["left"], json!(["link.buffer, BDP", "bbr"]));
        assert_eq!(seen["title"], "grid <b>&");
        assert_eq!(seen["bold"], 0, "no tag came from a name");
        assert_eq!(seen["wide"], true, "only tables scroll sideways");
        let values = seen["values"].as_array().unwrap();
        assert_eq!(values[0], "throughput, Mbit/s");
        assert!(values.len() > 15, "{values:?}");
        let cells = seen["cells"].as_array().unwrap();
        assert_eq!(cells.len(), 6);
        let slowest = |n: usize| -> f64 {
            let value = cells[n].as_str().unwrap().split(' ').next();
            value.unwrap().parse().unwrap()
        };
        let (shallow, deep) = (slowest(3), slowest(5));
        assert!(deep > 2.0 * shallow, "CUBIC fills the buffer: {cells:?}");
    }
}

#[test]
fn a_sweep_of_several_fields_is_a_heat_map_whose_roles_the_reader_chooses() {
    let text = r#"
        link = { rate = "10mbit" }
        run = { duration = "4s" }
        flows = [{ controller = "bbr" }]
        [sweep]
        "flows.controller" = ["bbr", "newreno"]
        "link.buffer" = ["1bdp", "4bdp", "16bdp"]
        "path.loss" = ["0%", "2%"]
        "path.rtt" = ["20ms", "60ms"]
        "#;
    let Some(report) = report_on(text, "sweep FILE --output results") else {
        return;
    };
    let seen = report.look(true, &format!(
            "{GRID}
             const start = {{ tiles: tiles(), heat: heat(), shades: new Set(all('.heat td').map((c) => c.style.background)).size,
               best: all('.heat td.best').length, labels: all('#sweep-fields label').map((l) => l.firstChild.textContent.trim()) }};
             await choose('path.rtt =', '60ms');
             const fixed = heat();
             await choose('across', 'path.rtt');
             const turned = {{ tiles: tiles(), heat: heat() }};
             await press('lines');
             const lines = {{ tiles: tiles(), drawn: all('#sweep-panels canvas').map(colours), legend: legend('sweep-panels') }};
             const was = pictures()[0];
             const over = document.querySelector('#sweep-panels .u-over');
             await press('logarithmic');
             return {{ start, fixed, turned, lines, log: pictures()[0] !== was }};"
        ),
    );
    let start = &seen["start"];
    assert_eq!(start["tiles"], json!(["bbr", "newreno"]));
    assert_eq!(
        start["labels"],
        json!(["Value", "across", "down", "panels", "path.rtt ="])
    );
    assert_eq!(start["heat"][0].as_array().unwrap().len(), 6);
    assert!(number(start, "shades") > 4.0);
    assert!(number(start, "best") >= 2.0);
    assert_ne!(start["heat"], seen["fixed"], "another RTT, other values");
    assert_eq!(seen["turned"]["heat"][0].as_array().unwrap().len(), 4);
    assert_eq!(seen["lines"]["tiles"], start["tiles"]);
    for drawn in seen["lines"]["drawn"].as_array().unwrap() {
        assert!(drawn.as_u64().unwrap() > 10);
    }
    assert_eq!(seen["log"], true);
}

#[test]
fn a_run_of_several_cells_is_one_report_of_all_of_them() {
    let text = r#"
        link = { rate = "10mbit" }
        run = { duration = "4s", seeds = 2 }
        flows = [{ controller = "bbr" }, { controller = "cubic", start = "1s" }]
        [sweep]
        "flows.0.controller" = ["bbr", "bbr3"]
        "link.buffer" = ["1bdp", "4bdp"]
        "#;
    let Some(report) = report_on(text, "run FILE") else {
        return;
    };
    let panels = report.look(false, PANELS);
    assert_panels(&panels, &OVER_TIME);
    let seen = report.look(false, &format!(
            "{GRID}
             const links = [...document.querySelector('#link').options].map((o) => o.textContent);
             const lines = all('#sweep-lanes button').map((b) => b.textContent);
             const heads = all('#cells th button').map((b) => b.textContent).filter((t) => t.startsWith('throughput'));
             await choose('lines', 'flows.0.controller'); await choose('panels', 'none');
             const groups = options('of'), before = all('#cells tbody tr')[0].textContent;
             await choose('of', 'group 2: cubic');
             const after = all('#cells tbody tr')[0].textContent;
             return {{ links, lines, heads, groups, changed: before !== after, lanes: legend('panel-rtt') }};"
        ),
    );
    assert_eq!(seen["lines"], seen["groups"], "groups are lines at first");
    assert_eq!(seen["heads"].as_array().unwrap().len(), 3, "{seen}");
    assert_eq!(
        seen["links"],
        json!(["1bdp: constant 10 Mbit/s", "4bdp: constant 10 Mbit/s"])
    );
    assert_eq!(
        seen["groups"],
        json!(["all flows together", "group 1", "group 2: cubic"])
    );
    assert_eq!(seen["lanes"], json!(["time, s", "bbr", "cubic"]));
    assert_eq!(seen["changed"], true);
}

#[test]
fn a_reproduction_shows_claims_figures_and_cells() {
    let Some(report) = report("reproduce rbbr-fig12a --seeds 2") else {
        return;
    };
    let seen = report.look(
        true,
        "const rows = () => all('.claims tbody tr').length;
         const claims = rows(), images = all('img.figure');
         await Promise.all(images.map((i) => i.decode()));
         const sizes = images.map((i) => i.naturalWidth);
         all('#verdicts button')[0].click(); await frame();
         const fewer = rows();
         return { claims, fewer, sizes, name: document.querySelector('summary b').textContent,
           drawn: colours(document.querySelector('#sweep-panels canvas')),
           flow: document.querySelector('#flow').hidden };",
    );
    assert_eq!(seen["name"], "rbbr-fig12a");
    assert!(number(&seen, "claims") >= 2.0);
    assert!(seen["fewer"].as_u64() < seen["claims"].as_u64());
    assert!(seen["sizes"][0].as_u64().unwrap() >= 640);
    assert!(number(&seen, "drawn") > 10.0);
    assert_eq!(seen["flow"], true);
}

#[test]
fn a_frontier_shows_its_tables_and_figures() {
    let folder = Folder::new();
    fs::create_dir(folder.at("traces")).unwrap();
    for (name, step) in [("slow", 4), ("<b>fast", 1)] {
        let times: String = (1..=500).map(|n| format!("{}\n", n * step)).collect();
        folder.write(&format!("traces/{name}"), times);
    }
    let frontier = "frontier --traces traces --cc window:packets=5/20 --duration 2s";
    let Some(report) = report_in(folder, frontier, 0) else {
        return;
    };
    let seen = report.look(true, "const images = all('#frontier img');
         await Promise.all(images.map((i) => i.decode()));
         const cells = (table) => [...table.querySelectorAll('tbody tr')].map((r) => r.cells.length);
         return { sizes: images.map((i) => i.naturalWidth), tables: all('table.frontier').map(cells),
           base: document.querySelector('.frontier td:nth-child(2)').textContent,
           others: ['#results', '#flow', '#sweep', '#papers'].map((id) => document.querySelector(id).hidden) };",
    );
    assert_eq!(seen["tables"], json!([[6, 6, 6], [4]]));
    assert_eq!(seen["base"], "1.000");
    assert_eq!(seen["sizes"], json!([960, 960, 960]));
    assert_eq!(seen["others"], json!([true, true, true, true]));
}

#[test]
fn two_fingers_zoom_all_panels_and_one_moves_them() {
    let Some(report) = report("compare --cc bbr --duration 10s") else {
        return;
    };
    let seen = report.look(false, "const over = document.querySelector('#panel-rtt .u-over'), box = over.getBoundingClientRect();
         const touches = (type, ...shares) => over.dispatchEvent(new TouchEvent(type, { bubbles: true, cancelable: true,
           touches: shares.map((share, identifier) => new Touch({ identifier, target: over,
             clientX: box.left + box.width * share, clientY: box.top + 50 })) }));
         const picture = () => document.querySelector('#panel-rate canvas').toDataURL();
         const steps = [range()], before = picture();
         touches('touchstart', 0.4, 0.6); touches('touchmove', 0.3, 0.7); await frame(); touches('touchmove', 0.2, 0.8); await frame();
         touches('touchend'); steps.push(range());
         const moved = before !== picture();
         touches('touchstart', 0.5); touches('touchmove', 0.2); await frame(); touches('touchend'); steps.push(range());
         touches('touchstart', 0.1, 0.9); touches('touchmove', 0.45, 0.55); await frame(); touches('touchend'); steps.push(range());
         return { steps, moved };",
    );
    assert_eq!(seen["steps"][0], "0 – 10.00 s");
    let ends = |n: usize| -> (f64, f64) {
        let text = seen["steps"][n].as_str().unwrap();
        let (from, to) = text.trim_end_matches(" s").split_once(" – ").unwrap();
        (from.parse().unwrap(), to.parse().unwrap())
    };
    // What was at 4 and 6 s is now a fifth from either end: 2 s are 60 % of what is shown.
    let (from, to) = ends(1);
    assert!((from - 3.333).abs() < 0.03 && (to - 6.667).abs() < 0.03);
    // Moved left by 30 % of 3.33 s.
    let (from, to) = ends(2);
    assert!((from - 4.333).abs() < 0.03 && (to - 7.667).abs() < 0.03);
    assert_eq!(seen["steps"][3], "0 – 10.00 s", "no further than the run");
    assert_eq!(seen["moved"], true);
}

#[test]
fn flows_of_different_controllers_each_have_a_row_a_name_and_a_colour() {
    let text = r#"
        link = { rate = "10mbit", buffer = "2bdp" }
        run = { duration = "6s" }
        metrics = ["share"]
        flows = [{ controller = "rbbr" }, { controller = "cubic", start = "2s", count = 2 }]
        "#;
    let Some(report) = report_on(text, "run FILE") else {
        return;
    };
    let seen = report.look(false, "const rows = all('#table tbody tr.flow').map((r) => [...r.children].map((c) => c.textContent.trim()));
         const heads = all('#table th button').map((b) => b.textContent);
         return { rows, heads, rtt: legend('panel-rtt'), shares: legend('shares'),
                  title: document.querySelector('#shares h3').textContent,
                  note: document.querySelector('#table-note').textContent,
                  phases: document.querySelector('#panel-phases .states').textContent,
                  panels: all('.panel').filter((p) => p.offsetParent).map((p) => [p.id, p.querySelector('canvas') ? colours(p.querySelector('canvas')) : 0]) };",
    );
    let names = json!(["time, s", "rbbr", "cubic 1", "cubic 2"]);
    assert_eq!(seen["rtt"], names);
    assert_eq!(seen["shares"], names);
    assert_eq!(seen["heads"][1], "share %", "the question's value first");
    let rows = seen["rows"].as_array().unwrap();
    assert_eq!(rows[0][0], "rbbr 0 – 6.00 s");
    assert_eq!(rows[2][0], "cubic 2 2.00 – 6.00 s");
    let share = |n: usize| rows[n][1].as_str().unwrap().parse::<f64>().unwrap();
    let sum = share(0) + share(1) + share(2);
    assert!((sum - 100.0).abs() < 0.2, "{rows:?}");
    assert_eq!(seen["title"], "Rates of the flows of rbbr + cubic");
    assert!(
        seen["note"].as_str().unwrap().contains("its life"),
        "{seen}"
    );
    let phases = seen["phases"].as_str().unwrap();
    has(
        phases,
        &["ProbeBW, gain > 1", "CongestionAvoidance", "suspended"],
    );
    assert_panels(&seen["panels"], &["plane", "panel-rate", "panel-phases"]);
}

#[test]
fn the_plane_breaks_its_axis_before_outliers_and_the_table_fits() {
    // NewReno fills an endless buffer: its delay is far beyond most others'.
    let compare =
        "compare --duration 20s --buffer inf --cc bbr,ebb,copa,bbr-s,rbbr,vegas,ebcc,newreno";
    let Some(report) = report(compare) else {
        return;
    };
    let seen = report.look(false, "const note = () => document.querySelector('#plane-note').textContent;
         const broken = note(), before = picture('plane');
         document.querySelector('#plane-note button').click(); await frame();
         return { broken, whole: note(), changed: picture('plane') !== before, drawn: colours(document.querySelector('#plane canvas')),
                  spills: document.querySelector('#results .scroll').scrollWidth - document.querySelector('#results .scroll').clientWidth };",
    );
    assert!(
        seen["broken"].as_str().unwrap().contains("is broken"),
        "{seen}"
    );
    assert!(
        !seen["whole"].as_str().unwrap().contains("is broken"),
        "{seen}"
    );
    assert_eq!(seen["changed"], true);
    assert!(number(&seen, "drawn") > 10.0);
    assert_eq!(seen["spills"], 0, "the table fits a window of 1280 pixels");
}

#[test]
fn the_table_of_several_links_with_intervals_fits_as_well() {
    let end = "with a long name, as operators and places make them.csv";
    for flows in ["1", "2"] {
        let folder = Folder::new();
        let mut compare = format!("compare --seeds 3 --duration 3s --loss 0.2% --flows {flows}");
        for name in ["one", "another"] {
            let name = format!("{name} {end}");
            folder.write(&name, "time_ms,rate_mbps\n0,5\n500,9\n1000,2\n");
            compare.push_str(&format!(" --trace '{name}'"));
        }
        let Some(report) = report_in(folder, &compare, 0) else {
            return;
        };
        let script = "const box = document.querySelector('#results .scroll');
                      return [box.scrollWidth - box.clientWidth, all('#table td small').length];";
        let seen = report.look(false, script);
        assert_eq!(seen[0], 0, "{flows} flows: it fits a window of 1280 pixels");
        assert!(seen[1].as_u64().unwrap() > 20, "intervals are shown");
    }
}

#[test]
fn a_scorecard_leads_from_the_matrix_to_limits_and_to_the_run() {
    let case = r#"
        case = { id = "Q1", title = "Keeps <the> queue short", source = "us" }
        link = { rate = "10mbit", buffer = "8bdp" }
        run = { duration = "5s" }
        flows = [{ controller = "candidate" }]
        [[limits]]
        metric = "queueing delay, ms"
        value = "queue_delay_ms.p95"
        at_most = 80
        reason = "people talk over each other"
    "#;
    let folder = Folder::with("q.toml", case);
    let Some(report) = report_in(folder, "score --cc cubic,bbr3 --suite q.toml", 1) else {
        return;
    };
    let seen = report.look(
        false,
        r"
        const buttons = all('#scores table button');
        const signs = buttons.map((b) => getComputedStyle(b, '::before').content[1]);
        buttons[0].click();
        await frame();
        const text = document.querySelector('#scores .case').textContent;
        all('#scores .case button')[0].click();
        await frame();
        const log = all('#scores .case a').map((a) => a.getAttribute('href'));
        return [signs, text, colours(document.querySelector('#panels canvas')) > 2, log];
        ",
    );
    assert_eq!(seen[0], json!(["✗", "✓"]));
    let parts = [
        "cubic: Q1 Keeps <the> queue short",
        "people talk over",
        "longest wait",
    ];
    has(seen[1].as_str().unwrap(), &parts);
    assert_eq!(seen[2], true);
    let log = report
        .folder
        .at("report")
        .join(seen[3][0].as_str().unwrap());
    assert!(fs::metadata(log).unwrap().len() > 10_000);
}

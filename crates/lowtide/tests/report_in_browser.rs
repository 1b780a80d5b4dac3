//! Reports in headless Chromium, opened from disk. Without Chromium the tests say so and pass.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

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

/// Runs `compare` with these flags and returns the folder of its report.
fn report(args: &[&str]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    assert_cmd::Command::cargo_bin("lowtide")
        .unwrap()
        .arg("compare")
        .args(args)
        .arg("--report")
        .arg(dir.path())
        .assert()
        .success();
    dir
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

/// Opens the report, runs `script` (which returns a value) in it, and returns the value. Fails on
/// any error or warning of the page.
fn look(browser: &Path, report: &TempDir, dark: bool, script: &str) -> Value {
    let html = fs::read_to_string(report.path().join("index.html")).unwrap();
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
    let path = report.path().join("watched.html");
    fs::write(&path, page).unwrap();
    let profile = tempfile::tempdir().unwrap();
    let mut command = Command::new(browser);
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
    let Some(browser) = browser() else { return };
    let report = report(&["--cc", "bbr-s", "--duration", "10s"]);
    for dark in [false, true] {
        let panels = look(&browser, &report, dark, PANELS);
        assert_panels(&panels, &OVER_TIME);
        assert_panels(&panels, &["plane", "rtt-cdf", "delay-cdf"]);
        let paper = "return getComputedStyle(document.body).backgroundColor;";
        let is_dark = look(&browser, &report, dark, paper) == "rgb(22, 24, 27)";
        assert_eq!(is_dark, dark);
    }
}

#[test]
fn zoom_is_linked_and_names_switch_lines_everywhere() {
    let Some(browser) = browser() else { return };
    let args = ["--cc", "bbr-s", "--cc", "cubic", "--duration", "10s"];
    let report = report(&[&args[..], &["--seeds", "3"]].concat());
    let seen = look(
        &browser,
        &report,
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
    assert_eq!(
        seen["both"],
        serde_json::json!(["time, s", "bbr-s", "cubic"])
    );
    assert_eq!(seen["one"][0], serde_json::json!(["time, s", "bbr-s"]));
    assert_eq!(seen["one"][1], serde_json::json!(["time, s", "bbr-s"]));
    assert_eq!(seen["one"][2], "2.50 – 7.50 s", "stays zoomed");
    assert_eq!(seen["hidden"], true, "filter internals come on demand");
    assert!(seen["gain"].as_u64().unwrap() > 10);
    assert_eq!(
        seen["filter"],
        serde_json::json!(["time, s", "bbr-s √Q", "bbr-s √R"])
    );
}

#[test]
fn several_flows_show_fairness_and_each_flow() {
    let Some(browser) = browser() else { return };
    let report = report(&[
        "--cc",
        "bbr",
        "--cc",
        "cubic",
        "--rate",
        "20mbit",
        "--buffer",
        "2bdp",
        "--flows",
        "3",
        "--stagger",
        "3s",
        "--duration",
        "15s",
    ]);
    let panels = look(&browser, &report, false, PANELS);
    assert_panels(&panels, &OVER_TIME);
    assert_panels(&panels, &["jain"]);
    let seen = look(
        &browser,
        &report,
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
        serde_json::json!(["time, s", "flow 1", "flow 2", "flow 3"])
    );
    assert_eq!(
        seen["shares"],
        serde_json::json!(["time, s", "flow 1", "flow 2", "flow 3"])
    );
    assert!(seen["rate"].as_u64().unwrap() > 10);
}

#[test]
fn several_links_share_a_sorted_table_and_hostile_names_stay_text() {
    let Some(browser) = browser() else { return };
    let dir = tempfile::tempdir().unwrap();
    let hostile = dir
        .path()
        .join("<img src=x onerror=alert(1)><script>alert(2)<&amp;.csv");
    let tame = dir.path().join("tame.csv");
    fs::write(&hostile, "time_ms,rate_mbps\n0,5\n500,9\n1000,2\n").unwrap();
    fs::write(&tame, "time_ms,rate_mbps\n0,3\n500,4\n1000,6\n").unwrap();
    let report = report(&[
        "--cc",
        "bbr",
        "--cc",
        "cubic",
        "--duration",
        "5s",
        "--trace",
        &tame.display().to_string(),
        "--trace",
        &hostile.display().to_string(),
    ]);
    let seen = look(
        &browser,
        &report,
        false,
        "const column = (n) => all('#table tbody tr').map((r) => r.children[n].firstChild.textContent);
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
    assert!(seen["best"].as_u64().unwrap() >= 2, "one a link at least");
    let name = hostile.display().to_string();
    assert_eq!(seen["links"][1], name.as_str());
    assert!(seen["setting"].as_str().unwrap().starts_with(&name));
    assert_eq!(seen["images"], 0, "no tag came from a name");
    assert!(seen["drawn"].as_u64().unwrap() > 10);
}

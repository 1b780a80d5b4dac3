//! Names that act on what shows them: in files, scenarios, suites, recipes and results.

use super::within_bounds;
use crate::program::Folder;

/// Clears the screen, turns the direction of what follows, is no character, and is a program in a page.
const NAME: &str = "n\u{1b}[2J\u{9b}31m\u{202e}m\u{fffe}<script>alert(1)<_script>";

/// The same as a string of TOML.
const QUOTED: &str = r#""n\u001b[2J\u009b31m\u202em\ufffe<script>alert(1)</script>""#;

fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || "\u{202e}\u{fffe}".contains(c)
}

/// What a command says has the name in it, and nothing that acts.
fn assert_shown(folder: &Folder, command: &str) {
    let said = said(folder, command);
    let is_shown = said.contains("u{9b}") || said.contains("u009b");
    assert!(is_shown, "{command}: {said}");
    assert_visible(&said, command);
}

fn assert_visible(text: &str, what: &str) {
    let hidden = text.find(is_hidden);
    assert!(
        hidden.is_none(),
        "{what}: {:?}",
        &text[hidden.unwrap_or(0)..]
    );
}

/// What a command says on both streams.
fn said(folder: &Folder, command: &str) -> String {
    let ran = within_bounds(folder, command);
    ran.out + &ran.err
}

#[test]
fn names_of_trace_files_are_shown_and_not_obeyed() {
    let trace = format!("{NAME}.csv");
    let folder = Folder::with(&trace, "time_ms,rate_mbps\n0,5\n100,6\n");
    let wrong = format!("{NAME}.txt");
    folder.write(&wrong, "nonsense\n");
    let compare = format!("lowtide compare --trace '{trace}' --cc cubic --duration 1s --seeds 1");
    for command in [
        format!("lowtide trace info '{trace}'"),
        format!("lowtide trace info '{trace}' --json"),
        format!("lowtide trace info '{wrong}'"),
        format!("{compare} --sparklines always"),
        format!("{compare} --markdown"),
        format!("{compare} --csv"),
        format!("{compare} --json"),
        format!("{compare} --report '{NAME}' --qlog '{NAME}'"),
        "lowtide compare --traces . --cc cubic --duration 1s --seeds 1".to_string(),
        format!("lowtide compare --trace '{NAME}'"),
        format!("lowtide '{NAME}'"),
    ] {
        assert_shown(&folder, &command);
    }
}

#[test]
fn names_in_scenarios_are_shown_and_not_obeyed() {
    let scenario = format!(
        "about = {QUOTED}\nlink = {{ rate = \"5mbit\", name = {QUOTED} }}\nrun = {{ duration = \"1s\" }}\n\
         [[flows]]\ncontroller = \"bbr\"\n[[cases]]\nname = {QUOTED}\nset = {{}}\n"
    );
    let folder = Folder::with("s.toml", &scenario);
    for command in [
        "run s.toml",
        "run s.toml --markdown",
        "run s.toml --json",
        "sweep s.toml",
    ] {
        assert_shown(&folder, &format!("lowtide {command}"));
    }
}

#[test]
fn texts_of_suites_are_neither_markup_nor_escapes() {
    let case = format!(
        "about = {QUOTED}\n[case]\nid = \"A\"\ntitle = {QUOTED}\nsource = {QUOTED}\n[link]\nrate = \"5mbit\"\n\
         [run]\nduration = \"1s\"\n[[flows]]\ncontroller = \"candidate\"\n\
         [[limits]]\nmetric = {QUOTED}\nvalue = \"throughput_mbps\"\nat_least = 1000\nreason = {QUOTED}\n"
    );
    let folder = Folder::with("a.toml", &case);
    let score = "lowtide score --suite a.toml --cc cubic";
    let files = "--document d.md --junit j.xml";
    for command in [format!("{score} {files}"), format!("{score} --json")] {
        assert_shown(&folder, &command);
    }
    for name in ["d.md", "j.xml"] {
        let text = folder.read(name);
        assert_visible(&text, name);
        assert!(
            !text.contains("<script") && text.contains("&lt;script"),
            "{name}: {text}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn recipes_are_shown_and_not_obeyed() {
    let recipe = format!(
        "name = {QUOTED}\nabout = {QUOTED}\nneeds = [{QUOTED}]\ninstall = {QUOTED}\nserver = \"x\"\nclient = \"y {{port}}\"\n"
    );
    let folder = Folder::with("r.toml", &recipe);
    let said = said(&folder, "lowtide score --link --recipe r.toml");
    assert!(said.contains("u{1b}"), "{said}");
    assert_visible(&said, "recipe");
}

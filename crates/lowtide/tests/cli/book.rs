//! What `.ci/book` builds the book with: links out of `docs/` are rewritten, and links that lead nowhere are
//! found. Needs Python.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::root;

const REPOSITORY: &str = "https://example.org/lowtide";

/// Runs a script of `.ci`; `None` without Python.
fn script(name: &str, arguments: &[&str], input: &str) -> Option<Output> {
    let mut python = Command::new("python3");
    python.arg(root().join(".ci").join(name)).args(arguments);
    python.stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = python.spawn() else {
        eprintln!("skipped: there is no python3 here");
        return None;
    };
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    Some(child.wait_with_output().unwrap())
}

#[test]
fn links_out_of_the_documents_lead_to_the_repository() {
    let text = "[code](../../crates/lowtide-ffi/README.md#c), [folder](../../examples), [beside](app.md#x), \
                [up](../README.md), [web](https://a.b/c.md), [here](#x)\n\n```sh\ncat [x](../../README.md)\n```\n";
    let config = json!({ "book": { "src": "docs" }, "output": { "html": { "git-repository-url": REPOSITORY } } });
    let chapter =
        json!({ "Chapter": { "source_path": "guides/a.md", "content": text, "sub_items": [] } });
    let given = json!([{ "root": root(), "config": config }, { "items": [chapter, "Separator"] }]);
    let Some(output) = script("book_links.py", &[], &given.to_string()) else {
        return;
    };
    let book: Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected = format!(
        "[code]({REPOSITORY}/blob/main/crates/lowtide-ffi/README.md#c), [folder]({REPOSITORY}/tree/main/examples), \
         [beside](app.md#x), [up](../index.md), [web](https://a.b/c.md), [here](#x)\n\n```sh\ncat [x](../../README.md)\n```\n"
    );
    assert_eq!(book["items"][0]["Chapter"]["content"], expected);
}

#[test]
fn a_link_that_leads_nowhere_fails_the_book() {
    let folder = tempfile::tempdir().unwrap();
    let page = |links: &str| fs::write(folder.path().join("index.html"), links).unwrap();
    fs::write(folder.path().join("a.html"), "<h1 id=\"top\">A</h1>").unwrap();
    let check = || {
        let book = folder.path().to_str().unwrap();
        script("book_check.py", &[book, REPOSITORY], "").map(|output| {
            (
                output.status.code(),
                String::from_utf8(output.stdout).unwrap(),
            )
        })
    };
    let good =
        format!("<a href=\"a.html#top\"></a><a href=\"{REPOSITORY}/blob/main/README.md\"></a>");
    page(&good);
    let Some((code, told)) = check() else { return };
    assert_eq!(code, Some(0), "{told}");
    for bad in [
        "b.html",
        "a.html#bottom",
        "../a.html",
        &format!("{REPOSITORY}/blob/main/gone.md"),
    ] {
        page(&format!("{good}<a href=\"{bad}\"></a>"));
        let (code, told) = check().unwrap();
        assert_eq!(code, Some(1), "{bad}");
        assert!(told.contains(&format!("index.html: {bad} ")), "{told}");
    }
}

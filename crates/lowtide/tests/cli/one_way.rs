//! Dependencies point one way, between the files of each crate and between JavaScript's modules; between crates Cargo
//! sees to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{ItemMod, ItemUse, UseTree};

/// A module, by the names on its way from the crate.
type Module = Vec<String>;

/// What the file of a module says.
#[derive(Default)]
struct Said {
    /// Paths from the crate to what it names.
    names: BTreeSet<Module>,
    /// Names that it has from elsewhere, as others may take them from it.
    hands_on: BTreeMap<String, Module>,
}

struct Reader {
    module: Module,
    said: Said,
}

impl Reader {
    /// A path from the crate; `None` for one into another crate.
    fn whole(&self, path: &[String]) -> Option<Module> {
        let (mut whole, mut rest) = match path.first()?.as_str() {
            "crate" => (Module::new(), &path[1..]),
            "self" => (self.module.clone(), &path[1..]),
            "super" => (self.module.clone(), path),
            _ => return None,
        };
        while rest.first().is_some_and(|part| part == "super") {
            whole.pop();
            rest = &rest[1..];
        }
        whole.extend_from_slice(rest);
        Some(whole)
    }

    fn take(&mut self, tree: &UseTree, mut path: Vec<String>) {
        match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.take(&inner.tree, path);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.take(tree, path.clone());
                }
            }
            UseTree::Name(name) => self.note(path, &name.ident.to_string(), None),
            UseTree::Rename(name) => {
                self.note(path, &name.ident.to_string(), Some(name.rename.to_string()));
            }
            UseTree::Glob(_) => self.said.names.extend(self.whole(&path)),
        }
    }

    fn note(&mut self, mut path: Vec<String>, name: &str, renamed: Option<String>) {
        if name != "self" {
            path.push(name.to_string());
        }
        if let Some(whole) = self.whole(&path) {
            let known_as = renamed.unwrap_or_else(|| name.to_string());
            self.said.hands_on.insert(known_as, whole.clone());
            self.said.names.insert(whole);
        }
    }
}

impl<'a> Visit<'a> for Reader {
    fn visit_item_use(&mut self, item: &'a ItemUse) {
        let before = self.said.names.clone();
        self.take(&item.tree, Vec::new());
        // What a folder's face only hands on it does not need itself.
        if !matches!(item.vis, syn::Visibility::Inherited) {
            self.said.names = before;
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let path_names = path.segments.iter().map(|part| part.ident.to_string());
        let whole = self.whole(&path_names.collect::<Vec<_>>());
        self.said.names.extend(whole);
        visit::visit_path(self, path);
    }

    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        // Tests within a file may look around.
        let of_tests = |a: &syn::Attribute| a.path().is_ident("cfg");
        if item.content.is_none() || !item.attrs.iter().any(of_tests) {
            visit::visit_item_mod(self, item);
        }
    }
}

/// The modules that a module needs: those where what it names is defined. A folder's face is not counted
/// for the files of the folder.
fn needs(module: &Module, all: &BTreeMap<Module, Said>) -> BTreeSet<Module> {
    let mut found = BTreeSet::new();
    for name in &all[module].names {
        let mut path = name.clone();
        // A chain of re-exports is shorter.
        for _ in 0..16 {
            let depth = (0..=path.len())
                .rev()
                .find(|n| all.contains_key(&path[..*n]));
            let (home, rest) = path.split_at(depth.unwrap_or(0));
            let elsewhere = rest.first().and_then(|item| all[home].hands_on.get(item));
            match elsewhere.filter(|further| *further != &path) {
                Some(further) => path = further.iter().chain(&rest[1..]).cloned().collect(),
                None => {
                    if !module.starts_with(home) {
                        found.insert(home.to_vec());
                    }
                    break;
                }
            }
        }
    }
    found
}

/// Those that need each other in a circle, and those between circles, with what they need of them.
fn circles<N: Ord + Clone>(mut left: BTreeMap<N, BTreeSet<N>>) -> BTreeMap<N, BTreeSet<N>> {
    loop {
        let before = left.len();
        let needed: BTreeSet<N> = left.values().flatten().cloned().collect();
        left.retain(|name, needs| !needs.is_empty() && needed.contains(name));
        let kept: BTreeSet<N> = left.keys().cloned().collect();
        left.values_mut()
            .for_each(|needs| needs.retain(|n| kept.contains(n)));
        if left.len() == before {
            return left;
        }
    }
}

/// What the modules of these files need.
fn needs_of(files: &[(Module, String)]) -> BTreeMap<Module, BTreeSet<Module>> {
    let read = |(module, text): &(Module, String)| {
        let file = syn::parse_file(text).unwrap_or_else(|e| panic!("{}: {e}", module.join("::")));
        let mut reader = Reader {
            module: module.clone(),
            said: Said::default(),
        };
        reader.visit_file(&file);
        (module.clone(), reader.said)
    };
    let all: BTreeMap<Module, Said> = files.iter().map(read).collect();
    let modules = all.keys();
    modules
        .map(|module| (module.clone(), needs(module, &all)))
        .collect()
}

/// The sources below a folder that are no tests, by their modules.
fn sources(folder: &Path, within: &Module, found: &mut Vec<(Module, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        let mut module = within.clone();
        if path.is_dir() {
            if name != "tests" {
                module.push(name);
                sources(&path, &module, found);
            }
        } else if path.extension().is_some_and(|e| e == "rs") && name != "tests" {
            if !["mod", "lib", "main"].contains(&name.as_str()) {
                module.push(name);
            }
            found.push((module, fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn no_file_of_a_crate_needs_one_that_needs_it() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut count, mut found) = (0, BTreeMap::new());
    for entry in fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path().join("src");
        let mut files = Vec::new();
        sources(&folder, &Module::new(), &mut files);
        // A program's main is a module beside its library's.
        files.retain(|(module, text)| !module.is_empty() || !text.contains("fn main"));
        count += files.len();
        let circles = circles(needs_of(&files));
        if !circles.is_empty() {
            found.insert(folder, circles);
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    assert!(count > 500, "{count} files are not all of them");
}

#[test]
fn a_circle_is_found_through_what_a_folder_hands_on() {
    let file = |module: &[&str], text: &str| {
        let module = module.iter().map(|part| (*part).to_string()).collect();
        (module, text.to_string())
    };
    let mut files = vec![
        file(&[], "mod a; mod b;"),
        file(&["a"], "mod c; pub use self::c::C;"),
        file(&["a", "c"], "use super::Face; pub struct C;"),
        file(&["b"], "use crate::a::C; pub struct B(C);"),
    ];
    assert!(circles(needs_of(&files)).is_empty());
    files[2].1 = "fn f() -> crate::b::B { todo!() }".to_string();
    let found = circles(needs_of(&files));
    let names: Vec<String> = found.keys().map(|module| module.join("::")).collect();
    assert_eq!(names, ["a::c", "b"]);
}

/// What each of a folder's JavaScript modules imports from its own folder, by the names of their files.
fn imports(folder: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let scripts = files.filter(|path| path.extension().is_some_and(|e| e == "js"));
    let read = |path: std::path::PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let from = text.lines().filter(|line| line.starts_with("import "));
        let from = from.filter_map(|line| line.split_once("\"./")?.1.split_once('"'));
        let from = from.map(|(name, _)| name.to_string());
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        (name, from.filter(|name| !name.contains('/')).collect())
    };
    scripts.map(read).collect()
}

#[test]
fn no_javascript_module_needs_one_that_needs_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let report = root.join("crates/lowtide-report");
    let of_report = imports(&report.join("assets/report"));
    // The report's are one script in the end, each behind those that it needs.
    let list = fs::read_to_string(report.join("src/report/mod.rs")).unwrap();
    let listed = list
        .lines()
        .filter_map(|line| line.split_once("assets/report/"));
    let listed = listed.filter_map(|(_, rest)| rest.split_once(".js"));
    let mut behind = BTreeSet::new();
    for (name, _) in listed {
        let name = format!("{name}.js");
        assert!(
            of_report[&name].is_subset(&behind),
            "{name} needs more than {behind:?}"
        );
        behind.insert(name);
    }
    assert!(
        of_report.keys().eq(&behind),
        "{behind:?} are not all of them"
    );
    for folder in ["web/playground", "web/lowtide"] {
        let imports = imports(&root.join(folder));
        assert!(imports.len() > 3, "{folder}");
        let found = circles(imports);
        assert!(found.is_empty(), "{folder}: {found:#?}");
    }
}

use super::*;
use crate::contender::Contenders;
use crate::scenario_file::ScenarioFile;

/// The cells of a grid of one axis.
fn cells(name: &str, buffers: &[&str]) -> Vec<Cell> {
    let text = format!(
        "name = '{name}'\nlink = {{ rate = '5mbit' }}\nflows = [{{ controller = 'bbr' }}]\n\
         [sweep]\n'link.buffer' = {buffers:?}\n"
    );
    let file = ScenarioFile::parse(Path::new("s.toml"), text).unwrap();
    file.cells(&Contenders::default()).unwrap()
}

fn values(v: f64) -> Named {
    Named::from([("throughput_mbps".to_string(), v), ("own".to_string(), 0.1)])
}

fn simulator() -> Key {
    Key::of(&[b"simulator"])
}

/// All files of a folder and what they hold.
fn bytes(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = folder::files(folder).unwrap().into_iter();
    let files = files.map(|f| (f.strip_prefix(folder).unwrap().into(), fs::read(f).unwrap()));
    files.collect()
}

#[test]
fn a_torn_line_costs_only_itself() {
    let folder = tempfile::tempdir().unwrap();
    let cells = cells("s", &["1bdp"]);
    let open = || Store::open(folder.path(), simulator(), &cells).unwrap();
    let (cell, store) = (&cells[0], open());
    store.put(cell, 1, &values(1.5));
    store.put(cell, 2, &values(2.5));
    let path = store.lock().place().to_path_buf();
    drop(store);
    let torn = fs::read(&path).unwrap();
    fs::write(&path, &torn[..torn.len() - 7]).unwrap();

    let store = open();
    assert_eq!((store.left_out().damaged, store.left_out().old), (1, 0));
    assert_eq!(store.get(cell.key, 1), Some(&values(1.5)));
    assert_eq!(store.get(cell.key, 2), None);
    store.put(cell, 2, &values(2.5));
    assert_eq!(store.problem(), None);
    drop(store);
    assert_eq!(open().get(cell.key, 2), Some(&values(2.5)));
    // Keys of an earlier version were of other things: its lines are named, and not believed.
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("{\"form\":2,", "{")).unwrap();
    let left_out = open().left_out();
    assert_eq!((left_out.damaged, left_out.old), (0, 2));
    assert!(left_out.warning().contains("older version"));
    fs::write(&path, torn).unwrap();
    // What another simulator made is not known.
    let other = Store::open(folder.path(), Key::of(&[b"newer"]), &cells).unwrap();
    assert_eq!(other.get(cell.key, 1), None);
}

#[test]
fn merged_results_are_the_same_bytes_however_they_came_and_are_found_again() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let cells = cells("what: if?", &["1bdp", "2bdp"]);
    let open = |name: &str| Store::open(&at(name), simulator(), &cells).unwrap();
    let runs = || (0..2).flat_map(|n| [1, 2].map(|seed| (n, seed)));
    let put = |store: &Store, (n, seed): (usize, u64)| {
        store.put(&cells[n], seed, &values(n as f64 + seed as f64 / 3.0));
    };
    let whole = open("whole");
    runs().for_each(|run| put(&whole, run));
    // In three stores, one of which was landed, and some results twice.
    for (n, run) in runs().enumerate() {
        put(&open(["a", "b"][n % 2]), run);
    }
    put(&open("c"), (0, 1));
    merge(&[at("b")], &at("landed")).unwrap();

    merge(&[at("whole")], &at("one")).unwrap();
    let merged = merge(&[at("landed"), at("a"), at("c")], &at("two")).unwrap();
    assert_eq!((merged.rows, merged.duplicates), (4, 1));
    let one = bytes(&at("one"));
    let path = Path::new("scenario=what%3A%20if%3F/part-0.parquet");
    assert_eq!(one[0].0, path);
    assert_eq!(one, bytes(&at("two")));
    // What is there already stays.
    let again = merge(&[at("c")], &at("one")).unwrap();
    assert_eq!((again.rows, again.duplicates), (4, 1));
    assert_eq!(one, bytes(&at("one")));
    let found = open("one");
    for (n, seed) in runs() {
        let expected = values(n as f64 + seed as f64 / 3.0);
        assert_eq!(found.get(cells[n].key, seed), Some(&expected));
    }
}

#[test]
fn results_that_contradict_each_other_are_told_with_both_places() {
    let dir = tempfile::tempdir().unwrap();
    let cells = cells("s", &["1bdp"]);
    let stores = [("a", 1.5), ("b", 1.5000000000000002)].map(|(name, value)| {
        let folder = dir.path().join(name);
        let store = Store::open(&folder, simulator(), &cells).unwrap();
        store.put(&cells[0], 7, &values(value));
        folder
    });
    let out = dir.path().join("out");
    let error = merge(&stores, &out).unwrap_err().to_string();
    let difference = "throughput_mbps is 1.5 and 1.5000000000000002";
    let places = ["a/results-", "b/results-", ".jsonl:1", "seed 7"];
    for part in places.into_iter().chain([difference]) {
        assert!(error.contains(part), "no {part:?} in {error}");
    }
    assert!(!out.exists());
}

#[test]
fn a_run_that_another_scenario_has_made_is_kept_under_both_names() {
    let dir = tempfile::tempdir().unwrap();
    let (one, other) = (cells("one", &["1bdp"]), cells("other", &["1bdp", "3bdp"]));
    let store = Store::open(dir.path(), simulator(), &one).unwrap();
    store.put(&one[0], 1, &values(1.5));
    drop(store);
    for _ in 0..2 {
        let store = Store::open(dir.path(), simulator(), &other).unwrap();
        assert_eq!(store.take(&other[0], 1), Some(&values(1.5)));
        assert_eq!(store.take(&other[1], 1), None);
        assert_eq!(store.stop(), 0);
    }
    let merged = merge(&[dir.path().to_path_buf()], &dir.path().join("out")).unwrap();
    let counts = (merged.rows, merged.duplicates, merged.scenarios);
    assert_eq!(counts, (2, 0, 2));
}

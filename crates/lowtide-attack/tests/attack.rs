//! Networks stay in their worlds, cases are cases, searches repeat, and findings are small and true.

use std::fs;
use std::time::Duration;

use lowtide_attack::budget::Budget;
use lowtide_attack::found::Finding;
use lowtide_attack::genome::Genome;
use lowtide_attack::goal::Goal;
use lowtide_attack::hunt::{Question, hunt};
use lowtide_attack::minimise::minimised;
use lowtide_attack::network::{Network, Queue, Step};
use lowtide_attack::search::Method;
use lowtide_attack::trial::Subject;
use lowtide_attack::world::{WORLDS, World};
use lowtide_cc::units::Time;
use lowtide_lab::contender::Contenders;
use lowtide_lab::experiment::{self, Options};
use lowtide_lab::key::Key;
use lowtide_lab::run::{Stop, watched};
use lowtide_lab::score::{Plan, Suite, judge};
use lowtide_sim::Probe;
use lowtide_sim::probe::{AckSeen, Sent};
use proptest::collection::vec;
use proptest::prelude::*;

fn subject(candidate: &str, goal: Goal, reference: &str) -> Subject {
    let contenders = Contenders::default();
    Subject {
        candidate: contenders.parse(candidate).unwrap(),
        host: None,
        goal,
        reference: reference.to_string(),
        contenders,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_genome_is_a_network_of_its_world_and_a_case_by_every_goal(genes in vec(0.0..=1.0, Genome::LEN)) {
        let genome = Genome(genes);
        for world in &WORLDS {
            let network = genome.network(world, 20_000);
            let within = |value: u64, (least, most): (u64, u64)| (least..=most).contains(&value);
            for step in &network.rates {
                prop_assert!(within(step.kbit, world.rate_kbit) && within(step.ms, (0, world.rate_ms.1)));
            }
            prop_assert!(network.rates.len() as u64 <= world.rates);
            prop_assert!(within(network.rtt_us, world.rtt_us));
            prop_assert!(network.rtt_steps.iter().all(|(_, us)| within(*us, world.rtt_us)));
            prop_assert!(network.jitter_us <= world.jitter_us && network.loss_ppm <= world.loss_ppm);
            prop_assert!(network.outage.is_none_or(|(_, ms)| ms <= world.outage_ms));
            prop_assert!(network.ack_batch_us <= world.ack_batch_us);
            prop_assert!(!network.reorder || world.reorders);
            prop_assert!(network.policer.is_none() || world.policed);
            for goal in Goal::all() {
                let subject = subject("ebb", goal, "bbr");
                let file = subject.file(&network, 1).unwrap();
                let cells = file.judging("ebb").cells(&subject.contenders);
                prop_assert!(cells.is_ok(), "{}, {}: {cells:?}", world.name, goal.name());
            }
        }
    }
}

#[test]
fn of_a_network_what_is_not_needed_goes_and_what_remains_is_round() {
    let genome = Genome((0..Genome::LEN).map(|n| n as f64 * 0.37 % 1.0).collect());
    let mut network = genome.network(World::find("anything").unwrap(), 20_000);
    (network.jitter_us, network.rtt_us) = (13_700, 47_300);
    let bad = |n: &Network, _| Ok::<_, ()>(if n.jitter_us >= 5_000 { 0.8 } else { 0.1 });
    let (small, score) = minimised(&network, bad).unwrap();
    let mut expected = Network::calm(small.rates[0].kbit, 50_000);
    expected.jitter_us = 10_000;
    assert_eq!((small, score), (expected, 0.8));
}

#[test]
fn a_time_that_must_stay_as_it_is_ends_the_search_for_a_smaller_network() {
    let mut network = Network::calm(1_000, 50_000);
    let steps = [(1_000, 7), (2_000, 13)];
    network.rates = steps.map(|(kbit, ms)| Step { kbit, ms }).to_vec();
    let bad = |n: &Network, _| {
        let kept = n.rates.len() == 2 && n.rates[0].ms == 7;
        Ok::<_, ()>(if kept { 0.8 } else { 0.1 })
    };
    let (small, _) = minimised(&network, bad).unwrap();
    assert_eq!(
        small.rates.iter().map(|step| step.ms).collect::<Vec<_>>(),
        [7, 10]
    );
}

#[test]
fn a_search_repeats_and_goes_on_and_its_findings_are_cases() {
    let folder = tempfile::tempdir().unwrap();
    let ask = |budget, kept| Question {
        subjects: vec![subject("copa", Goal::Throughput, "bbr")],
        world: World::find("cellular").unwrap(),
        budget: Budget::Networks(budget),
        method: Method::Elites,
        seed: 7,
        most: 1,
        jobs: 2,
        kept,
    };
    let kept = Some((folder.path().to_path_buf(), Key::of(&[b"here"])));
    let run = |question: &Question| hunt(question, &Stop::default(), &|_, _| {}).unwrap();
    let (first, whole) = (run(&ask(48, kept.clone())), run(&ask(64, None)));
    assert!(first[0].worst <= whole[0].worst);
    // What the journal has is not tried again, and changes nothing.
    assert_eq!(run(&ask(64, kept.clone())), whole);
    assert_eq!(run(&ask(64, kept)), whole);
    let other = ask(
        64,
        Some((folder.path().to_path_buf(), Key::of(&[b"elsewhere"]))),
    );
    let error = hunt(&other, &Stop::default(), &|_, _| {}).unwrap_err();
    assert!(error.to_string().contains("another search"), "{error}");

    let (subject, finding) = (&ask(1, None).subjects[0], &whole[0].findings[0]);
    assert!(
        finding.score > subject.goal.limit() && finding.lines() <= 12,
        "{finding:?}"
    );
    let cases = folder.path().join("cases");
    fs::create_dir(&cases).unwrap();
    fs::write(cases.join("one.toml"), finding.text(subject, 1)).unwrap();
    let suite = Suite::find(cases.to_str().unwrap()).unwrap();
    assert_eq!(suite.cases[0].id(), "copa-throughput-1");
    let again = subject
        .confirm_on(&finding.network, &Stop::default())
        .unwrap();
    assert_eq!(again.score, finding.score);
}

#[test]
fn the_controllers_own_run_bounds_how_bad_it_is() {
    let stop = Stop::default();
    let mut spared = 0;
    for goal in [Goal::Throughput, Goal::Delay, Goal::Both, Goal::Loss] {
        let subject = subject("bbr", goal, "causal");
        for n in 0..10 {
            let genes = (0..Genome::LEN).map(|place| ((n * 71 + place + 1) as f64 * 0.618) % 1.0);
            let world = &WORLDS[n % WORLDS.len()];
            let network = Genome(genes.collect()).network(world, goal.run_ms());
            let exact = subject.try_on(&network, &stop).unwrap();
            let bound = subject.try_above(&network, 2.0, &stop).unwrap();
            assert!(
                exact <= bound.score + 0.01,
                "{goal:?}: {exact} {bound:?} {network:?}"
            );
            spared += u32::from(bound.at_most);
            // What may be as bad as is asked for is found out.
            let exactly = subject.try_above(&network, bound.score, &stop).unwrap();
            assert_eq!((exactly.score, exactly.at_most), (exact, false));
        }
    }
    assert!(spared > 20, "{spared}");
}

#[test]
fn a_link_that_is_known_to_be_bad_scores_badly_and_a_calm_one_does_not() {
    // ebb's `docs/ebb.md`: a rate of which most comes in short bursts.
    let mut bursts = Network::calm(500, 50_000);
    bursts.rates = vec![
        Step { kbit: 500, ms: 200 },
        Step {
            kbit: 50_000,
            ms: 50,
        },
    ];
    let subject = subject("ebb", Goal::Throughput, "causal");
    let score = |network: &Network| subject.try_on(network, &Stop::default()).unwrap();
    assert!(score(&bursts) > 0.5 && score(&Network::calm(10_000, 40_000)) < 0.05);
    let finding = Finding {
        controller: "ebb".to_string(),
        goal: "throughput".to_string(),
        title: "",
        network: bursts,
        score: 0.8,
        reason: String::new(),
        before: 0.8,
    };
    assert_eq!(
        (finding.lines(), finding.network.named_troubles()),
        (3, "rate".to_string())
    );
}

/// Nothing happens before what has happened.
#[derive(Default)]
struct Onward(Time);

impl Onward {
    fn note(&mut self, now: Time) {
        assert!(now >= self.0, "back from {} to {now}", self.0);
        self.0 = now;
    }
}

impl Probe for Onward {
    fn on_send(&mut self, sent: &Sent) {
        self.note(sent.now);
    }

    fn on_ack(&mut self, _flow: usize, ack: &AckSeen<'_>) {
        self.note(ack.now);
    }

    fn on_timeout(&mut self, _flow: usize, now: Time) {
        self.note(now);
    }
}

#[test]
fn a_timeout_that_shrinks_below_what_has_passed_does_not_turn_time_back() {
    // Found by a search, which did not come to the end of another such network.
    let rates = [
        (3_500, 2_000),
        (12_000, 210),
        (18_000, 440),
        (180_000, 2_200),
    ];
    let network = Network {
        rates: rates.map(|(kbit, ms)| Step { kbit, ms }).to_vec(),
        buffer_tenths: Some(17),
        queue: Queue::CoDel,
        jitter_us: 900,
        reorder: true,
        loss_ppm: 4_200,
        burst: 4,
        ack_batch_us: 16_000,
        tcp: true,
        ..Network::calm(3_500, 95_000)
    };
    let subject = subject("ebb", Goal::Throughput, "bbr");
    let file = subject.file(&network, 1).unwrap();
    let cells = file.judging("ebb").cells(&subject.contenders).unwrap();
    watched(&cells[0].setting, 1, Onward::default(), &Stop::default()).unwrap();
}

#[test]
fn what_breaks_an_invariant_is_named_and_sound_controllers_break_none() {
    let calm = Network::calm(5_000, 40_000);
    let tcp = Network {
        tcp: true,
        ..calm.clone()
    };
    let tried = |candidate: &str, network: &Network| {
        let subject = subject(candidate, Goal::Invariants, "causal");
        let tried = subject.confirm_on(network, &Stop::default()).unwrap();
        (tried.score, tried.reason)
    };
    for sound in ["bbr", "bbr3", "cubic", "ebb"] {
        assert_eq!(tried(sound, &calm), (0.0, String::new()), "{sound}");
    }
    // Marks end UP, and the same acknowledgment goes on from DOWN.
    let marked = Network {
        queue: Queue::CoDel,
        rtt_steps: vec![(5_000, 2_000)],
        ..Network::calm(5_000, 10_000)
    };
    assert_eq!(tried("bbr3", &marked), (0.0, String::new()));
    let one_packet = "window:packets=1";
    assert_eq!(
        tried(one_packet, &calm),
        (
            1.0,
            "the window is below two packets, or one over TCP".to_string()
        )
    );
    // Which TCP may have after a timeout.
    assert_eq!(tried(one_packet, &tcp).0, 0.0);
}

#[test]
fn trouble_that_is_to_be_forgotten_ends_after_twenty_seconds_whatever_is_left_of_it() {
    let mut network = Network::calm(5_000, 40_000);
    network.rates = [5_000, 1_000].map(|kbit| Step { kbit, ms: 3_000 }).to_vec();
    (network.rtt_steps, network.loss_ppm) = (vec![(30_000, 60_000)], 10_000);
    let case = Goal::Memory.case(&network, "bbr", 1);
    let said = |section: &str, key: &str| case[section][key].as_str().unwrap().to_string();
    assert_eq!(
        said("link", "schedule"),
        "0ms:5mbit,3000ms:1mbit,6000ms:5mbit,46000ms:repeat"
    );
    assert_eq!(said("path", "rtt_steps"), "15000ms:60ms,20000ms:40ms");
    assert!(case["path"].get("loss").is_none());
}

#[test]
fn a_budget_is_networks_or_time_and_never_nothing() {
    let read = |text: &str| text.parse::<Budget>();
    let time = |seconds| Ok(Budget::Time(Duration::from_secs(seconds)));
    assert_eq!(read("2000"), Ok(Budget::Networks(2000)));
    assert_eq!((read("10m"), read("90s")), (time(600), time(90)));
    for wrong in ["0", "0m", "0s", "-1", "much", ""] {
        let problem = read(wrong).unwrap_err();
        assert!(
            problem.starts_with("a number of networks, as in 2000"),
            "{wrong}"
        );
    }
    // Nobody waits so long, and nothing overflows.
    assert_eq!(read(&format!("{}m", u64::MAX)), time(u64::MAX));
    assert_eq!(
        read("10m").unwrap().of_each(4),
        Budget::Time(Duration::from_secs(150))
    );
}

#[test]
fn who_is_named_twice_is_tried_once_and_nobody_against_itself() {
    let contenders = Contenders::default();
    let both = contenders.parse_all("copa,bbr,copa").unwrap();
    let all = |reference| {
        let goals = [Goal::Loss, Goal::Stall, Goal::Loss];
        let subjects = Subject::all(&both, &goals, None, reference, &contenders)?;
        let named = subjects
            .iter()
            .map(|s| (s.candidate.name().to_string(), s.goal));
        Ok::<Vec<_>, String>(named.collect())
    };
    let expected = [
        ("copa", Goal::Loss),
        ("copa", Goal::Stall),
        ("bbr", Goal::Loss),
        ("bbr", Goal::Stall),
    ];
    assert_eq!(
        all("cubic").unwrap(),
        expected.map(|(name, goal)| (name.to_string(), goal))
    );
    assert!(
        all("bbr")
            .unwrap_err()
            .contains("cannot be held against itself")
    );
    assert!(all("nobody").is_err());
}

#[test]
fn kept_networks_replay_to_the_bit_on_every_machine() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/found");
    let suite = Suite::find(folder).unwrap();
    let contenders = Contenders::default();
    let copa = contenders.parse("copa").unwrap();
    let plan = Plan::new(&suite, vec![copa], &contenders, None).unwrap();
    let options = Options {
        jobs: 2,
        ..Options::default()
    };
    let results = experiment::run(&plan.cells, options, &|| {}).unwrap();
    let card = judge(&suite, &plan, &results).unwrap();
    let cases = card.results.iter().flat_map(|score| &score.cases);
    let limits = cases.flat_map(|case| case.limits.iter().map(|limit| (&case.id, limit)));
    let values: Vec<_> = limits
        .map(|(id, limit)| (id.as_str(), limit.value.unwrap()))
        .collect();
    // Who changes them says in the commit what changed, and why.
    assert_eq!(values, REPLAYED);
}

/// Copa's values on them.
const REPLAYED: &[(&str, f64)] = &[
    ("ebb-delay-3", 0.10937112670761961),
    ("ebb-delay-4", -0.9606272431909921),
    ("ebb-stall-5", 0.2212289095945606),
    ("ebb-stall-6", 0.2183586464162003),
    ("ebb-starvation-7", 1.0),
    ("ebb-starvation-8", 1.0),
    ("ebb-throughput-1", -0.2274519781198321),
    ("ebb-throughput-2", -0.1384599824691526),
];

//! Programs that can be scored: what runs at each end of a link. Those of well-known ones are built in,
//! a few lines of TOML each.

use std::env;
use std::path::Path;

use lowtide_cc::registry::unknown;
use lowtide_lab::files;
use lowtide_link::Error;
use serde::Deserialize;

/// How a program is run, but for its controller.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// What it is called.
    name: String,
    /// What it is, in a line.
    about: String,
    /// Commands that must be there.
    #[serde(default)]
    needs: Vec<String>,
    /// Variables of the environment that must be set.
    #[serde(default)]
    environment: Vec<String>,
    /// How to get all that.
    #[serde(default)]
    install: String,
    /// Runs at the far end, and sends.
    server: String,
    /// Runs at the near end, and fetches.
    client: String,
}

macro_rules! recipes {
    ($($name:literal)+) => {
        &[$(include_str!(concat!("../recipes/", $name, ".toml"))),+]
    };
}

static RECIPES: &[&str] = recipes!["kernel" "iperf3" "curl" "quic-go" "aioquic" "lowtide"];

/// The largest recipe that is read.
const RECIPE: files::Kind = files::Kind {
    name: "recipe",
    most: 64 << 10,
};

/// What stands between a recipe's name and a controller.
const SEPARATOR: char = '/';

/// The recipe whose controllers are the kernel's.
const KERNEL: &str = "kernel";

/// A program: a recipe with its controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// How it is shown.
    pub name: String,
    /// Run by `sh` at the far end.
    pub server: String,
    /// Run by `sh` at the near end.
    pub client: String,
}

/// What commands may name in braces, and what it is.
const PLACEHOLDERS: [(&str, &str); 5] = [
    ("host", "the server's address"),
    ("port", "the server's port"),
    ("seconds", "how long it runs, in whole seconds"),
    ("bytes", "how much there is to send"),
    ("dir", "a folder of the run's own"),
];

/// In a recipe the controller.
const CONTROLLER: &str = "cc";

impl Recipe {
    fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|e| e.to_string())
    }

    /// The recipes that are built in.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn built_in() -> Result<Vec<Self>, Error> {
        let all = RECIPES.iter().map(|text| Self::parse(text));
        all.collect::<Result<_, _>>().map_err(Error::failed)
    }

    /// Whether it leaves the choice of a controller.
    fn has_choice(&self) -> bool {
        let commands = [&self.server, &self.client];
        commands
            .iter()
            .any(|text| placeholders(text).any(|name| name == CONTROLLER))
    }

    /// What it is called, with `/CC` behind it where it leaves the choice of a controller.
    #[must_use]
    pub fn shown(&self) -> String {
        let choice = if self.has_choice() { "/CC" } else { "" };
        format!("{}{choice}", self.name)
    }

    /// What it is in a line, and why it cannot run here where that is so.
    #[must_use]
    pub fn about(&self) -> String {
        match self.lacking() {
            None => self.about.clone(),
            Some(why) => format!("{} (cannot run here: {why}: {})", self.about, self.install),
        }
    }

    /// What it needs and is not there, in words.
    fn lacking(&self) -> Option<String> {
        let found = |command: &str| {
            let path = env::var_os("PATH").unwrap_or_default();
            env::split_paths(&path).any(|folder| folder.join(command).is_file())
        };
        let mut commands = self.needs.iter();
        if let Some(command) = commands.find(|command| !found(command)) {
            return Some(format!("the command '{command}' is not in PATH"));
        }
        let is_unset = |name: &&String| env::var_os(name).is_none_or(|value| value.is_empty());
        let unset = self.environment.iter().find(is_unset)?;
        Some(format!("the environment has no {unset}"))
    }

    fn with(&self, controller: Option<&str>) -> Result<Program, Error> {
        let Self { name, .. } = self;
        if let Some(lacking) = self.lacking() {
            let install = &self.install;
            let problem = format!("recipe '{name}' cannot run here: {lacking}: {install}");
            return Err(Error::input(problem));
        }
        let (server, client) = match (controller, self.has_choice()) {
            (None, false) => (self.server.clone(), self.client.clone()),
            (Some(cc), true) => {
                // It becomes part of a shell's command.
                let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.:=%".contains(c);
                if cc.is_empty() || !cc.chars().all(is_plain) {
                    let cc = cc.escape_debug();
                    return Err(Error::Input(format!("'{cc}' is no controller's name")));
                }
                if name == KERNEL {
                    check_kernel(cc)?;
                }
                let put = |text: &str| text.replace(&format!("{{{CONTROLLER}}}"), cc);
                (put(&self.server), put(&self.client))
            }
            (None, true) => {
                let problem = format!("recipe '{name}' has several controllers: {name}/cubic");
                return Err(Error::input(problem));
            }
            (Some(cc), false) => {
                let cc = cc.escape_debug();
                let problem = format!("recipe '{name}' has no choice of controller: no '{cc}'");
                return Err(Error::input(problem));
            }
        };
        let shown = match controller {
            None => name.clone(),
            Some(cc) => format!("{name}{SEPARATOR}{cc}"),
        };
        Program::new(shown, server, client)
    }
}

impl Program {
    /// A program of these commands.
    ///
    /// # Errors
    /// When they name something in braces that is not known.
    pub fn new(name: String, server: String, client: String) -> Result<Self, Error> {
        for (end, text) in [("server", &server), ("client", &client)] {
            let known = |name: &&str| PLACEHOLDERS.iter().any(|(known, _)| known == name);
            if let Some(unknown) = placeholders(text).find(|place| !known(place)) {
                let all: Vec<String> = PLACEHOLDERS
                    .iter()
                    .map(|(name, what)| format!("{{{name}}} ({what})"))
                    .collect();
                return Err(Error::Input(format!(
                    "the {end} command of {name} has {{{unknown}}}: known are {}; braces of the \
                     shell's own have a blank behind them",
                    all.join(", ")
                )));
            }
        }
        if !placeholders(&client).any(|place| place == "port") {
            let problem = format!(
                "the client command of {name} has no {{port}}, by which the link knows whose \
                 packets are whose"
            );
            return Err(Error::input(problem));
        }
        Ok(Self {
            name,
            server,
            client,
        })
    }

    /// The program of a name: a recipe's, or a recipe file's, with `/CC` behind it where it leaves the
    /// choice of a controller.
    ///
    /// # Errors
    /// When there is none, something that it needs is missing, or the controller does not fit.
    pub fn find(spec: &str) -> Result<Self, Error> {
        let file = match spec.split_once(".toml") {
            Some((head, "")) => Some((format!("{head}.toml"), None)),
            Some((head, rest)) => rest
                .strip_prefix(SEPARATOR)
                .map(|cc| (format!("{head}.toml"), Some(cc))),
            None => None,
        };
        if let Some((path, controller)) = file {
            let path = Path::new(&path);
            let bytes = files::read(path, RECIPE).map_err(Error::input)?;
            let text = files::text(path, bytes).map_err(Error::input)?;
            let wrong = |e: String| Error::Input(format!("{}: {e}", path.display()));
            return Recipe::parse(&text).map_err(wrong)?.with(controller);
        }
        let (name, controller) = match spec.split_once(SEPARATOR) {
            Some((name, cc)) => (name, Some(cc)),
            None => (spec, None),
        };
        let known = Recipe::built_in()?;
        let Some(recipe) = known.iter().find(|recipe| recipe.name == name) else {
            let known: Vec<&str> = known.iter().map(|recipe| recipe.name.as_str()).collect();
            return Err(Error::Input(format!(
                "{}, a file of your own ends in .toml, and --server and --client do without",
                unknown("recipe ", spec, &known)
            )));
        };
        recipe.with(controller)
    }

    /// The kernel's program that stands for a controller of the simulator.
    #[must_use]
    pub fn standing_for(controller: &str) -> Option<Self> {
        let kernel = match controller {
            "cubic" => "cubic",
            "newreno" => "reno",
            "bbr" => "bbr",
            _ => return None,
        };
        Self::find(&format!("{KERNEL}{SEPARATOR}{kernel}")).ok()
    }

    /// Whether it is told how much there is to send.
    #[must_use]
    pub fn knows_volume(&self) -> bool {
        [&self.server, &self.client]
            .iter()
            .any(|text| placeholders(text).any(|place| place == "bytes"))
    }
}

/// What a command names in braces. The shell's own are not taken for that: `${HOME}`, `{ a; }`, `{a,b}`.
fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('{').filter_map(|(at, _)| {
        let (name, _) = text[at + 1..].split_once('}')?;
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase());
        (is_name && !text[..at].ends_with('$')).then_some(name)
    })
}

/// Whether the kernel has a controller, and lets programs behind a link choose it. Where there can be no
/// link, that is what will be said.
#[cfg(target_os = "linux")]
fn check_kernel(controller: &str) -> Result<(), Error> {
    use lowtide_link::Namespace;

    let Ok((namespace, _)) = Namespace::first() else {
        return Ok(());
    };
    let found = namespace.run(|| crate::bulk_tcp::check(controller))?;
    found.map_err(|e| {
        let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        Error::Input(format!(
            "this kernel has no controller '{controller}' ({e}); it has {}",
            known.unwrap_or_default().trim()
        ))
    })
}

#[cfg(not(target_os = "linux"))]
fn check_kernel(_: &str) -> Result<(), Error> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::filled;

    #[test]
    fn every_recipe_that_is_built_in_makes_a_program() {
        for recipe in Recipe::built_in().unwrap() {
            let recipe = Recipe {
                needs: Vec::new(),
                environment: Vec::new(),
                ..recipe
            };
            let controller = recipe.has_choice().then_some("cubic");
            let program = recipe.with(controller).unwrap();
            assert!(program.knows_volume(), "{}", program.name);
            assert!(!program.server.contains("{cc}") && !program.client.contains("{cc}"));
        }
    }

    #[test]
    fn braces_of_the_shell_are_left_to_it() {
        let text = "{ a; }; cp ${HOME}/{x,y} {dir} {} {Port} {port}";
        assert_eq!(placeholders(text).collect::<Vec<_>>(), ["dir", "port"]);
        let values = [("dir", "/d".to_string()), ("port", "7".to_string())];
        assert_eq!(
            filled(text, &values),
            "{ a; }; cp ${HOME}/{x,y} /d {} {Port} 7"
        );
    }

    #[test]
    fn a_wrong_program_is_named_with_its_remedy() {
        let said = |spec: &str| Program::find(spec).unwrap_err().to_string();
        assert!(said("quick-go").contains("known are kernel, iperf3"));
        assert!(said("kernel").contains("kernel/cubic"));
        assert!(said("kernel/a;b").contains("is no controller's name"));
        assert!(said("nowhere.toml").contains("nowhere.toml"));
        let new = |server: &str, client: &str| {
            let made = Program::new("p".into(), server.into(), client.into());
            made.unwrap_err().to_string()
        };
        assert!(new("a {prot}", "b {port}").contains("{port} (the server's port)"));
        assert!(new("a {port}", "b").contains("has no {port}"));
    }
}

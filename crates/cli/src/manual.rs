//! What the command says about itself: help, `homing completions` and `homing man`. All of it comes
//! from the one `clap::Command` of `args.rs`, so that a new subcommand is in it without a word here;
//! the tests below say what they ask of it.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Arg, Args, Command, CommandFactory, FromArgMatches};
use clap_complete::Shell;
use homing::files::NewFolder;
use homing_learner::TrainConfig;

use crate::args::Cli;
use crate::exit::{Exit, Failure};
use crate::output::print;

/// The narrowest terminal that help is laid out for. Clap breaks lines of text, but not usages.
const NARROW: usize = 60;

/// Print what a shell needs to complete commands
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  homing completions bash > homing.bash",
    after_long_help = "Examples:\n  \
                       homing completions bash \\\n    \
                       > ~/.local/share/bash-completion/completions/homing\n  \
                       homing completions zsh > ~/.zfunc/_homing\n  \
                       homing completions fish \\\n    \
                       > ~/.config/fish/completions/homing.fish\n\n\
                       For zsh the folder must be in fpath before compinit runs: \
                       `fpath+=~/.zfunc` in ~/.zshrc."
)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Print the manual pages
///
/// Without --out, one page is printed: that of homing, or of the command that is named.
#[derive(Debug, Args)]
#[command(
    override_usage = "homing man [COMMAND]...\n       homing man --out DIR",
    after_help = "Examples:\n  homing man solve | man -l -\n  homing man --out man1"
)]
pub(crate) struct Man {
    /// The command whose page is printed: `train`, `generate blocks`
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    command: Vec<String>,

    /// Write the pages of all commands to a new folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
}

/// The command line, with what `args.rs` cannot say: the values that the presets give to settings.
fn command() -> Command {
    Cli::command().mut_subcommand("train", |train| train.mut_args(with_preset_values))
}

/// Adds the values of the presets to the help of a setting.
fn with_preset_values(setting: Arg) -> Arg {
    let field = setting.get_id().as_str().to_owned();
    // By way of text, where an f32 is as short as it was written.
    let value = |config: &TrainConfig| {
        let text = serde_json::to_string(config).ok()?;
        let fields: serde_json::Value = serde_json::from_str(&text).ok()?;
        let value = fields.get(&field)?;
        Some(
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned),
        )
    };
    let (Some(default), Some(help)) = (value(&TrainConfig::default()), setting.get_help()) else {
        return setting;
    };
    let mut help = format!("{help} [default: {default}");
    for (name, config) in [
        ("reference", TrainConfig::reference()),
        ("paper", TrainConfig::paper()),
    ] {
        if let Some(other) = value(&config)
            && other != default
        {
            let _ = write!(help, "; {name}: {other}");
        }
    }
    setting.help(help + "]")
}

/// The command line as it is parsed: usages broken, and help itself behind the other options.
fn finished() -> Command {
    fn finish(command: &mut Command) {
        let usage = broken(&command.render_usage().to_string());
        let mut taken = std::mem::take(command).override_usage(usage);
        if taken
            .get_arguments()
            .any(|argument| argument.get_help_heading().is_some())
        {
            taken = taken.mut_arg("help", |help| help.help_heading("Other options"));
        }
        *command = taken;
        command
            .get_subcommands_mut()
            .filter(|inner| inner.get_name() != "help")
            .for_each(finish);
    }
    let mut command = command();
    command.build();
    finish(&mut command);
    command
}

/// Breaks the lines of a usage that are too long, and takes away the word before it.
fn broken(usage: &str) -> String {
    let start = "Usage: ";
    let mut lines: Vec<String> = Vec::new();
    for line in usage.lines() {
        let mut open = String::new();
        for word in line.trim_start_matches(start).split_whitespace() {
            if !open.is_empty() && start.len() + open.chars().count() + 1 + word.len() > NARROW {
                lines.push(std::mem::replace(&mut open, "   ".to_owned()));
            }
            if !open.is_empty() {
                open.push(' ');
            }
            open.push_str(word);
        }
        lines.push(open);
    }
    lines.join(&format!("\n{}", " ".repeat(start.len())))
}

/// Reads the command line; a mistake and a wish for help are errors.
pub(crate) fn parse(arguments: Vec<OsString>) -> Result<Cli, clap::Error> {
    let matches = finished().try_get_matches_from(arguments)?;
    Cli::from_arg_matches(&matches)
}

pub(crate) fn completions(arguments: &Completions) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command(), "homing", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Success)
}

/// The commands from this one down, as manual pages want them: without `help`.
fn pages() -> Vec<Command> {
    fn collect(command: &Command, pages: &mut Vec<Command>) {
        pages.push(command.clone());
        for inner in command
            .get_subcommands()
            .filter(|inner| !inner.is_hide_set())
        {
            collect(inner, pages);
        }
    }
    let mut root = command().disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    collect(&root, &mut pages);
    pages
}

fn page(command: Command) -> anyhow::Result<(String, String)> {
    let page = clap_mangen::Man::new(command);
    let mut text = Vec::new();
    page.render(&mut text)?;
    Ok((
        page.get_filename(),
        String::from_utf8_lossy(&text).into_owned(),
    ))
}

pub(crate) fn man(arguments: &Man) -> anyhow::Result<Exit> {
    if let Some(folder) = &arguments.out {
        let new = NewFolder::prepare(folder)?;
        let pages = pages();
        let count = pages.len();
        for command in pages {
            let (file, text) = page(command)?;
            new.write(&file, &text)?;
        }
        new.finish()?;
        print(&format!("{}: {count} pages\n", folder.display()))?;
        return Ok(Exit::Success);
    }
    let wanted = std::iter::once("homing")
        .chain(arguments.command.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join(" ");
    let found = pages()
        .into_iter()
        .find(|command| command.get_bin_name().unwrap_or("homing") == wanted);
    let Some(command) = found else {
        return Err(Failure::because(
            Exit::BadInput,
            format!("there is no command `{wanted}`; `homing --help` lists the commands"),
        ));
    };
    print(&page(command)?.1)?;
    Ok(Exit::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every command of the finished command line, with the words that call it.
    fn all() -> Vec<(String, Command)> {
        fn collect(command: &Command, all: &mut Vec<(String, Command)>) {
            let name = command
                .get_bin_name()
                .unwrap_or(command.get_name())
                .to_owned();
            all.push((name, command.clone()));
            for inner in command.get_subcommands() {
                if inner.get_name() != "help" {
                    collect(inner, all);
                }
            }
        }
        let mut found = Vec::new();
        collect(&finished(), &mut found);
        assert!(found.len() > 15, "{}", found.len());
        found
    }

    /// The commands shown as examples: lines of the help that are indented and begin with `homing`,
    /// joined where they end in a backslash.
    fn examples(help: &str) -> Vec<String> {
        let mut examples: Vec<String> = Vec::new();
        let mut open = false;
        for line in help.lines() {
            let text = line.trim();
            let (text, goes_on) = match text.strip_suffix('\\') {
                Some(start) => (start.trim_end(), true),
                None => (text, false),
            };
            if open {
                let last = examples.last_mut().expect("an open example");
                last.push(' ');
                last.push_str(text);
                open = goes_on;
            } else if line.starts_with("  homing ") {
                examples.push(text.to_owned());
                open = goes_on;
            }
        }
        examples
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn every_command_says_what_it_does_and_shows_an_example() {
        for (name, mut command) in all() {
            assert!(command.get_about().is_some(), "{name} says nothing");
            for help in [command.render_help(), command.render_long_help()] {
                let help = help.to_string();
                let shown = examples(help.split("\nExample").nth(1).unwrap_or_default());
                assert!(!shown.is_empty(), "no example in the help of {name}");
            }
        }
    }

    #[test]
    fn every_option_has_help_and_a_heading() {
        for (name, command) in all() {
            for argument in command.get_arguments() {
                let id = argument.get_id();
                let help = argument.get_help().map(ToString::to_string);
                assert!(help.is_some_and(|help| !help.is_empty()), "{name}: {id}");
                let built_in = ["help", "version"].contains(&id.as_str());
                assert!(
                    built_in || argument.is_positional() || argument.get_help_heading().is_some(),
                    "{name}: --{id} has no help_heading"
                );
            }
        }
    }

    /// The examples are commands that homing takes, files aside.
    #[test]
    fn examples_are_understood() {
        for (name, mut command) in all() {
            let help = command.render_long_help().to_string();
            for example in examples(&help) {
                let words = example
                    .split_whitespace()
                    .take_while(|word| !["|", ">"].contains(word));
                if let Err(error) = finished().try_get_matches_from(words) {
                    panic!("{name} shows `{example}`: {error}");
                }
            }
        }
    }

    #[test]
    fn help_fits_a_narrow_and_a_wide_terminal() {
        for width in [NARROW, 80, 100] {
            for (name, command) in all() {
                let mut command = command.term_width(width);
                for help in [command.render_help(), command.render_long_help()] {
                    for line in help.to_string().lines() {
                        let unbreakable = line.split_whitespace().count() == 1;
                        assert!(
                            line.chars().count() <= width || unbreakable,
                            "{name}, {width} columns: {line}"
                        );
                        assert!(!line.contains('\u{1b}'), "{name}: {line:?}");
                    }
                }
                // A broken example is no command any more.
                let mut wide = command.clone().term_width(1000);
                assert_eq!(
                    examples(&command.render_help().to_string()),
                    examples(&wide.render_help().to_string()),
                    "{name}, {width} columns"
                );
                assert_eq!(
                    examples(&command.render_long_help().to_string()),
                    examples(&wide.render_long_help().to_string()),
                    "{name}, {width} columns"
                );
            }
        }
    }

    /// Sentences are broken by the terminal; a usage should be broken between words.
    #[test]
    fn mistakes_are_answered_with_a_usage_that_fits() {
        for (name, _) in all() {
            let words = name.split(' ').chain(["--no-such-option"]);
            let Err(error) = finished().try_get_matches_from(words) else {
                panic!("{name} takes anything");
            };
            let text = error.to_string();
            let usage = text.split("Usage: ").nth(1);
            let usage = usage.unwrap_or_else(|| panic!("no usage of {name}: {text}"));
            for line in usage.lines() {
                assert!(line.chars().count() <= NARROW, "{name}: {line}");
            }
        }
    }

    #[test]
    fn settings_show_the_values_of_the_presets() {
        let command = command();
        let train = command.find_subcommand("train").expect("train");
        let help = |id: &str| {
            let argument = train
                .get_arguments()
                .find(|argument| argument.get_id() == id);
            argument.and_then(Arg::get_help).expect("help").to_string()
        };
        assert!(help("gamma").ends_with("[default: 0.999; paper: 0.999999]"));
        assert!(help("learning_rate").ends_with("[default: 0.001]"));
        assert!(help("policy").ends_with("[default: softmax; paper: greedy]"));
        assert!(help("heuristic").ends_with("[default: ff]"));
        let fields = serde_json::to_value(TrainConfig::default()).expect("JSON");
        for field in fields.as_object().expect("an object").keys() {
            assert!(help(field).contains("[default: "), "{field}");
        }
    }

    /// The list of `homing --help` is that of `docs/exit-codes.md`.
    #[test]
    fn exit_codes_are_those_of_the_documentation() {
        let help = command().render_long_help().to_string();
        let listed: Vec<&str> = help
            .split("Exit codes")
            .nth(1)
            .expect("a list")
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
            .collect();
        let documented: Vec<&str> = include_str!("../../../docs/exit-codes.md")
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.split(' ').next())
            .filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
            .collect();
        assert_eq!(listed, documented);
    }

    #[test]
    fn usages_are_broken_between_words() {
        let long = "Usage: homing x --first <N> --second <N> --third <N> --fourth <N> FILE";
        assert_eq!(
            broken(long),
            "homing x --first <N> --second <N> --third <N>\n           --fourth <N> FILE"
        );
        assert_eq!(
            broken("Usage: homing a\n       homing b"),
            "homing a\n       homing b"
        );
    }
}

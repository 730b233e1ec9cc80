//! Settings from TOML files, over the usual ones.

use std::fmt::Write as _;

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// The settings of a text, over the usual ones: a section may name some of its fields only.
///
/// # Errors
///
/// A line for everything that is wrong with the text: what is no TOML, or else each field that there
/// is not or that has a value of another kind.
pub fn over<T: Serialize + DeserializeOwned>(usual: &T, text: &str) -> Result<T, String> {
    let file: Table = toml::from_str(text).map_err(|error| error.to_string())?;
    let whole = Table::try_from(usual).map_err(|error| error.to_string())?;
    let mut wrong = String::new();
    let mut all = whole.clone();
    put_over(&mut all, file.clone());
    let settings = all.try_into();
    if settings.is_err() {
        // A field at a time, so that each is heard of.
        for (path, value) in leaves(&file, "") {
            let mut one = whole.clone();
            put_over(&mut one, nested(&path, value));
            if let Err(error) = one.try_into::<T>() {
                let error = error.to_string();
                let line = error.lines().next().unwrap_or_default();
                let _ = writeln!(wrong, "`{path}`: {line}");
            }
        }
    }
    settings.map_err(|error| match wrong.trim_end() {
        // Fields that do not go together.
        "" => error.to_string(),
        wrong => wrong.to_owned(),
    })
}

/// Puts the fields of a table over those of another, table by table.
fn put_over(whole: &mut Table, part: Table) {
    for (name, value) in part {
        match (whole.get_mut(&name), value) {
            (Some(Value::Table(inner)), Value::Table(part)) => put_over(inner, part),
            (_, value) => {
                whole.insert(name, value);
            }
        }
    }
}

/// All values that are no tables, or empty ones, with where they stand: `cut.goals`.
fn leaves(table: &Table, within: &str) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (name, value) in table {
        let path = match within {
            "" => name.clone(),
            within => format!("{within}.{name}"),
        };
        match value {
            Value::Table(inner) if !inner.is_empty() => found.extend(leaves(inner, &path)),
            value => found.push((path, value.clone())),
        }
    }
    found
}

/// A table with one value, at a path.
fn nested(path: &str, value: Value) -> Table {
    let (name, value) = match path.split_once('.') {
        Some((section, rest)) => (section, Value::Table(nested(rest, value))),
        None => (path, value),
    };
    Table::from_iter([(name.to_owned(), value)])
}

#[cfg(test)]
mod tests {
    use homing_learner::LearnConfig;

    use super::*;
    use crate::LearnHereConfig;

    #[test]
    fn some_fields_leave_the_others_as_they_are() {
        let usual = LearnHereConfig::default();
        assert_eq!(over(&usual, "").as_ref(), Ok(&usual));
        let text = "first_work = 5\n[cut]\nrepair = false\nspace = [10, 20]\n[fit]\nl2 = 0.5\n";
        let mut wanted = usual.clone();
        wanted.first_work = 5;
        wanted.cut.repair = false;
        wanted.cut.space = (10, 20);
        wanted.fit.l2 = 0.5;
        assert_eq!(over(&usual, text), Ok(wanted));
    }

    #[test]
    fn every_wrong_field_is_named() {
        let text =
            "first = 5\nsamples = -1\n[cut]\nrepiar = false\ngoals = \"two\"\nrepair = true\n";
        let wrong = over(&LearnHereConfig::default(), text).expect_err("four fields");
        let lines: Vec<&str> = wrong.lines().collect();
        assert_eq!(lines.len(), 4, "{wrong}");
        for start in [
            "`cut.goals`: ",
            "`cut.repiar`: ",
            "`first`: ",
            "`samples`: ",
        ] {
            assert!(lines.iter().any(|line| line.starts_with(start)), "{wrong}");
        }
        assert!(over(&LearnHereConfig::default(), "cut = [").is_err());
    }

    #[test]
    fn kinds_of_parts_are_fields_as_well() {
        let usual = LearnConfig::default();
        assert_eq!(over(&usual, "data.kind = \"exact\"").as_ref(), Ok(&usual));
        let wrong = over(&usual, "data.kind = \"plans\"\ndata.sample = 3").expect_err("two fields");
        assert_eq!(wrong.lines().count(), 2, "{wrong}");
    }
}

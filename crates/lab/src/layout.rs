//! The names of files: those beside a model, and those in the folder of an experiment.

use std::path::{Path, PathBuf};

/// The domain in a folder of problems.
pub const DOMAIN_FILE: &str = "domain.pddl";

/// How the files of models end.
pub const MODEL_EXTENSION: &str = "safetensors";

/// How the names of files begin that are being written; a killed run leaves them behind.
pub const TEMPORARY_PREFIX: &str = ".homing-";

/// The page of a report, in its folder.
pub const REPORT_PAGE: &str = "index.html";

/// The files of a training run: the model, and what lies beside it under the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFiles {
    /// The model's file.
    pub model: PathBuf,
}

impl ModelFiles {
    /// The files of the run that writes this model.
    pub fn of(model: impl Into<PathBuf>) -> Self {
        Self {
            model: model.into(),
        }
    }

    /// The model of a seed, in a folder for several.
    pub fn of_seed(folder: &Path, seed: u64) -> Self {
        Self::of(folder.join(format!("seed-{seed}.{MODEL_EXTENSION}")))
    }

    /// A file beside the model: `.safetensors` makes room for the extension, any other name grows
    /// by it, so that no two models share a file.
    fn beside(&self, extension: &str) -> PathBuf {
        let mut stem = self.model.clone();
        if stem.extension().is_some_and(|end| end == MODEL_EXTENSION) {
            stem.set_extension("");
        }
        let mut name = stem.into_os_string();
        name.push(".");
        name.push(extension);
        PathBuf::from(name)
    }

    /// The configuration, as it was trained with.
    pub fn config(&self) -> PathBuf {
        self.beside("toml")
    }

    /// The configuration that an experiment asks for.
    pub fn requested_config(&self) -> PathBuf {
        self.beside("config.toml")
    }

    /// The log: a line a step.
    pub fn log(&self) -> PathBuf {
        self.beside("jsonl")
    }

    /// The log for TensorBoard: a folder.
    pub fn events(&self) -> PathBuf {
        self.beside("events")
    }

    /// Everything that a run needs to go on.
    pub fn checkpoint(&self) -> PathBuf {
        self.beside("checkpoint")
    }

    /// The best snapshot so far, while the run lasts.
    pub fn best(&self) -> PathBuf {
        self.beside("best")
    }

    /// Removes what an experiment has no more use for once the record of the run is written.
    pub fn remove_working_files(&self) {
        let _ = std::fs::remove_file(self.log());
        let _ = std::fs::remove_file(self.requested_config());
        let _ = std::fs::remove_dir_all(self.events());
    }
}

/// The folder of an experiment, and of `homing quickstart`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExperimentFolder {
    /// The folder.
    pub path: PathBuf,
}

impl ExperimentFolder {
    /// The file of records of searches.
    pub const EVALUATIONS: &str = "evaluations.jsonl";
    /// The file of records of training.
    pub const TRAININGS: &str = "training.jsonl";

    /// A folder.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The file that describes the experiment.
    pub fn spec(&self) -> PathBuf {
        self.path.join("experiment.toml")
    }

    /// The records of searches.
    pub fn evaluations(&self) -> PathBuf {
        self.path.join(Self::EVALUATIONS)
    }

    /// The records of training.
    pub fn trainings(&self) -> PathBuf {
        self.path.join(Self::TRAININGS)
    }

    /// The folder of records that the experiment, as it is now, does not ask for.
    pub fn earlier(&self) -> Self {
        Self::new(self.path.join("earlier"))
    }

    /// The folder of models.
    pub fn models(&self) -> PathBuf {
        self.path.join(MODELS)
    }

    /// The folder of sets of problems.
    pub fn problems(&self) -> PathBuf {
        self.path.join(PROBLEMS)
    }

    /// The folder of plans.
    pub fn plans(&self) -> PathBuf {
        self.path.join("plans")
    }

    /// The folder of the report.
    pub fn report(&self) -> PathBuf {
        self.path.join("report")
    }

    /// The folder of records of processes that share the work, each with files of its own.
    pub fn parts(&self) -> PathBuf {
        self.path.join("parts")
    }

    /// The folder of what processes have to agree on that share the work.
    pub fn chunks(&self) -> PathBuf {
        self.path.join("chunks")
    }

    /// The folder of scripts and logs of jobs on a cluster.
    pub fn slurm(&self) -> PathBuf {
        self.path.join("slurm")
    }

    /// Where the file of the experiment is that was last run here.
    pub fn source(&self) -> PathBuf {
        self.path.join("source.json")
    }

    /// The file whose lock whoever trains this model holds.
    pub fn model_lock(&self, planned: &str) -> PathBuf {
        let name = planned.trim_start_matches(MODELS).trim_start_matches('/');
        self.path.join(".locks").join(name)
    }

    /// The file whose lock whoever brings the records together holds.
    pub fn gather_lock(&self) -> PathBuf {
        self.path.join(".locks").join("records")
    }

    /// The file that keeps two runs out of one folder.
    pub fn lock(&self) -> PathBuf {
        self.path.join(".lock")
    }

    /// A file that the plan of the experiment names.
    pub fn file(&self, planned: &str) -> PathBuf {
        self.path.join(planned)
    }
}

const MODELS: &str = "models";
const PROBLEMS: &str = "problems";

/// A model's file, under the folder of its experiment.
pub(crate) fn planned_model(name: &str, key: &str) -> String {
    format!("{MODELS}/{name}-{}.{MODEL_EXTENSION}", &key[..8])
}

/// A set of problems, under the folder of its experiment.
pub(crate) fn planned_problems(domain: &str, label: &str, key: &str) -> String {
    format!("{PROBLEMS}/{domain}-{label}-{}", &key[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_models_share_a_file() {
        let beside = |model: &str| ModelFiles::of(model).log();
        assert_eq!(beside("a/m.safetensors"), Path::new("a/m.jsonl"));
        assert_eq!(beside("a/m.1"), Path::new("a/m.1.jsonl"));
        assert_eq!(beside("a/m.2"), Path::new("a/m.2.jsonl"));
        let seed = ModelFiles::of_seed(Path::new("models"), 3);
        assert_eq!(seed.model, Path::new("models/seed-3.safetensors"));
        assert_eq!(seed.checkpoint(), Path::new("models/seed-3.checkpoint"));
    }
}

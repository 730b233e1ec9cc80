//! The tasks of an experiment and their keys.

use std::collections::BTreeMap;

use homing_learner::{Signature, ValueKind};
use homing_planner::SearchKind;
use serde::Serialize;

use super::hgn::training_problems;
use super::settings::Settings;
use super::spec::{SelectSpec, Spec, SpecError};
use crate::domains::DomainName;
use crate::layout::{planned_model, planned_problems};
use crate::record::{Evaluation, ModelOfRun, Outcome, RECORD_FORMAT};
use crate::suite::{Instance, Manifest, Suite, draw, text_hash};

/// A problem of a set.
#[derive(Clone, Debug, PartialEq)]
pub struct ProblemFile {
    /// The name of its file.
    pub file: String,
    /// Its text.
    pub text: String,
    /// |O|
    pub objects: usize,
}

impl From<&Instance> for ProblemFile {
    fn from(instance: &Instance) -> Self {
        Self {
            file: instance.draw.file(),
            text: instance.problem.to_string(),
            objects: instance.problem.objects.len(),
        }
    }
}

/// Problems of one domain, and the folder they go to.
#[derive(Clone, Debug)]
pub struct ProblemSet {
    /// Hash of the domain and the problems.
    pub key: String,
    /// The domain, as the experiment calls it.
    pub domain: String,
    /// The text of `domain.pddl`.
    pub domain_text: String,
    /// The problems.
    pub problems: Vec<ProblemFile>,
    /// What is written about them.
    pub manifest: Option<Manifest>,
    /// The folder, under that of the experiment.
    pub folder: String,
}

/// Files of a domain of one's own, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnFiles {
    /// The text of the domain.
    pub domain_text: String,
    /// What a network must be able to read.
    pub signature: Signature,
    /// The problems to train on.
    pub train: Vec<ProblemFile>,
    /// The problems to select with.
    pub select: Vec<ProblemFile>,
    /// The problems to evaluate on.
    pub evaluate: Vec<ProblemFile>,
}

/// How a snapshot is chosen.
#[derive(Clone, Debug)]
pub struct SelectionTask {
    /// The set of problems to select with, by index.
    pub problems: usize,
    /// How.
    pub spec: SelectSpec,
}

/// A model to train.
#[derive(Clone, Debug)]
pub struct TrainingTask {
    /// Hash of everything that decides the model.
    pub key: String,
    /// The set of problems, by index.
    pub problems: usize,
    /// How a snapshot is chosen.
    pub select: Option<SelectionTask>,
    /// The settings.
    pub config: Settings,
    /// The seed.
    pub seed: u64,
    /// The model's file, under the folder of the experiment.
    pub model: String,
    /// CPU seconds it is thought to take.
    pub cost: f64,
}

/// A problem to solve.
#[derive(Clone, Debug)]
pub struct EvaluationTask {
    /// The set of problems, by index.
    pub problems: usize,
    /// The problem, by index.
    pub problem: usize,
    /// The model, by the index of its training; `None` for a base heuristic alone.
    pub training: Option<usize>,
    /// What will be recorded, as far as it is known before the run.
    pub planned: Evaluation,
    /// CPU seconds it is thought to take at the most.
    pub cost: f64,
}

/// All tasks of an experiment.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Sets of problems.
    pub sets: Vec<ProblemSet>,
    /// Models, the dearest first.
    pub trainings: Vec<TrainingTask>,
    /// Searches.
    pub evaluations: Vec<EvaluationTask>,
}

/// What identifies a result: the first half of SHA-256 of what decides it.
pub(crate) fn key(of: &impl Serialize) -> String {
    let text = serde_json::to_string(of).expect("keys are made of plain data");
    let mut hash = text_hash(text.as_bytes());
    hash.truncate(32);
    hash
}

/// `count` indices spread evenly over `0..len`, all if there are no more.
pub fn spread(len: usize, count: Option<usize>) -> Vec<usize> {
    match count {
        // The middle of each of `count` equal stretches: sizes at both ends are in.
        Some(count) if count < len => (0..count)
            .map(|i| (2 * i + 1) * len / (2 * count))
            .collect(),
        _ => (0..len).collect(),
    }
}

impl ProblemSet {
    fn new(domain: &str, label: &str, domain_text: &str, problems: Vec<ProblemFile>) -> Self {
        let hashes: Vec<(&str, String)> = problems
            .iter()
            .map(|problem| (problem.file.as_str(), text_hash(problem.text.as_bytes())))
            .collect();
        let key = key(&("problems", text_hash(domain_text.as_bytes()), hashes));
        Self {
            folder: planned_problems(domain, label, &key),
            key,
            domain: domain.to_owned(),
            domain_text: domain_text.to_owned(),
            problems,
            manifest: None,
        }
    }

    /// The suite of one of the eight domains, or some of it.
    fn of_suite(suite: Suite, domain: DomainName, count: Option<usize>) -> Result<Self, SpecError> {
        let wrong = |error: crate::ParameterError| SpecError::one(error.to_string());
        let mut drawn = draw(&suite.draws(domain), |_| {}).map_err(wrong)?;
        let chosen = spread(drawn.instances.len(), count);
        let whole = chosen.len() == drawn.instances.len();
        let mut instances = Vec::new();
        for index in chosen {
            instances.push(drawn.instances[index].clone());
        }
        drawn.instances = instances;
        if !whole {
            drawn.dropped.clear();
        }
        let problems = drawn.instances.iter().map(ProblemFile::from);
        let label = suite.as_str();
        let mut set = Self::new(domain.as_str(), label, domain.text(), problems.collect());
        set.manifest = Some(drawn.manifest(whole.then_some(suite), domain));
        Ok(set)
    }

    fn of_files(
        name: &str,
        label: &str,
        domain_text: &str,
        files: &[ProblemFile],
        count: Option<usize>,
    ) -> Result<Self, SpecError> {
        if files.is_empty() {
            return Err(SpecError::one(format!(
                "there are no problems to {label} with for `{name}`"
            )));
        }
        let chosen = spread(files.len(), count);
        let problems = chosen.into_iter().map(|index| files[index].clone());
        Ok(Self::new(name, label, domain_text, problems.collect()))
    }

    /// What is known of a run on each problem before it is known with what.
    fn evaluations(&self) -> impl Iterator<Item = Evaluation> {
        let domain = NamedText {
            name: &self.domain,
            text: &self.domain_text,
        };
        self.problems.iter().map(move |file| {
            let text = NamedText {
                name: &file.file,
                text: &file.text,
            };
            Evaluation::planned(domain, text, file.objects)
        })
    }

    /// Mean of |O|³, what the cost of a network grows with.
    fn mean_triples(&self) -> f64 {
        let cubes = self.problems.iter().map(|p| (p.objects as f64).powi(3));
        cubes.sum::<f64>() / self.problems.len().max(1) as f64
    }
}

/// Seconds of a core for a training step, from the tables of `docs/results/training.md`.
fn step_seconds(triples: f64) -> f64 {
    4e-4 + 8e-7 * triples
}

/// Seconds of a core for an evaluation of a network and of a base heuristic.
fn evaluation_seconds(objects: usize, kind: Option<ValueKind>) -> f64 {
    let objects = objects as f64;
    match kind {
        None => 5e-6,
        Some(ValueKind::Hgn) => 1e-4 + 4e-6 * objects.powi(2),
        // Of the searches that a policy guides, most run it once for many evaluations.
        Some(ValueKind::Gnn) => 2e-5 * objects,
        Some(_) => 2e-5 + 4e-9 * objects.powi(3),
    }
}

struct Domain<'a> {
    name: String,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Ours(DomainName),
    Own(&'a OwnFiles),
}

impl Domain<'_> {
    fn set(
        &self,
        label: &str,
        suite: Suite,
        files: impl Fn(&OwnFiles) -> &[ProblemFile],
        count: Option<usize>,
    ) -> Result<ProblemSet, SpecError> {
        match self.kind {
            Kind::Ours(domain) => ProblemSet::of_suite(suite, domain, count),
            Kind::Own(own) => {
                ProblemSet::of_files(&self.name, label, &own.domain_text, files(own), count)
            }
        }
    }
}

impl Plan {
    /// Lists the tasks of an experiment. `own` has the files of every domain in `spec.own`.
    ///
    /// # Errors
    ///
    /// If there is nothing to train on or to evaluate, or a setting is wrong.
    pub fn new(spec: &Spec, own: &BTreeMap<String, OwnFiles>) -> Result<Self, SpecError> {
        let ours = spec.domains.iter().map(|&domain| Domain {
            name: domain.as_str().to_owned(),
            kind: Kind::Ours(domain),
        });
        let own = own.iter().map(|(name, files)| Domain {
            name: name.clone(),
            kind: Kind::Own(files),
        });
        let mut plan = Self::default();
        for domain in ours.chain(own) {
            plan.add(spec, &domain)?;
        }
        plan.sort();
        Ok(plan)
    }

    fn add(&mut self, spec: &Spec, domain: &Domain<'_>) -> Result<(), SpecError> {
        let mut models = Vec::new();
        if spec.seeds > 0 {
            let train = &spec.train;
            let set = domain.set("train", train.suite, |own| &own.train, train.problems)?;
            let problems = self.push_set(set);
            let select = match &spec.select {
                Some(select) => {
                    let set =
                        domain.set("select", select.suite, |own| &own.select, select.problems)?;
                    Some(SelectionTask {
                        problems: self.push_set(set),
                        spec: select.clone(),
                    })
                }
                None => None,
            };
            for &heuristic in &spec.heuristics {
                let mut config = spec.config(&domain.name, heuristic)?;
                if let Kind::Own(own) = domain.kind {
                    let open = |field| !spec.sets(&domain.name, field);
                    config.raise_to_fit(&own.signature, open("max_arity"), open("layers"));
                }
                for seed in spec.first_seed..spec.first_seed + spec.seeds {
                    models.push(self.trainings.len());
                    let settings = Settings::Nlm(config.clone());
                    let task = self.training(problems, select.clone(), settings, seed);
                    self.trainings.push(task);
                }
            }
        }
        self.add_hypergraph_networks(spec, domain, &mut models)?;
        self.add_graph_networks(spec, domain, &mut models)?;
        let Some(evaluate) = &spec.evaluate else {
            return Ok(());
        };
        let set = domain.set(
            "evaluate",
            evaluate.suite,
            |own| &own.evaluate,
            evaluate.problems,
        )?;
        let problems = self.push_set(set);
        // Hashing the files again for every run would take longer than all the rest.
        let bare: Vec<Evaluation> = self.sets[problems].evaluations().collect();
        let bases = spec.heuristics.iter().filter(|_| evaluate.bases);
        let bases: Vec<_> = bases.map(|heuristic| (heuristic.name(), None)).collect();
        let models = models.into_iter();
        let models = models.map(|at| (self.trainings[at].config.heuristic(), Some(at)));
        for (heuristic, training) in bases.into_iter().chain(models.collect::<Vec<_>>()) {
            let by_policy = training.is_some_and(|at| {
                let kind = self.trainings[at].config.kind();
                kind == ValueKind::Gnn
            });
            let searches = match &spec.gnn {
                Some(gnn) if by_policy => &gnn.searches,
                _ => &evaluate.searches,
            };
            for &search in searches {
                for (problem, planned) in bare.iter().enumerate() {
                    let planned = planned.clone();
                    let mut task = EvaluationTask {
                        problems,
                        problem,
                        training,
                        planned: self.planned(planned, heuristic, training, search),
                        cost: 0.0,
                    };
                    task.planned.max_evaluations = evaluate.max_evaluations;
                    task.planned.time_limit = evaluate.time_limit;
                    task.planned.memory_limit = evaluate.memory_limit.map(|mib| mib << 20);
                    let identity = training.map(|at| self.trainings[at].key.clone());
                    task.planned.key = task.planned.key_for(identity.as_deref());
                    let evaluations = evaluate.max_evaluations.unwrap_or(100_000) as f64;
                    let objects = task.planned.objects;
                    let kind = training.map(|at| self.trainings[at].config.kind());
                    task.cost = evaluations * evaluation_seconds(objects, kind);
                    if let Some(limit) = evaluate.time_limit {
                        task.cost = task.cost.min(limit);
                    }
                    self.evaluations.push(task);
                }
            }
        }
        Ok(())
    }

    /// The models of `[hgn]` for a domain.
    fn add_hypergraph_networks(
        &mut self,
        spec: &Spec,
        domain: &Domain<'_>,
        models: &mut Vec<usize>,
    ) -> Result<(), SpecError> {
        let Some(hgn) = spec.hgn.as_ref().filter(|hgn| hgn.seeds > 0) else {
            return Ok(());
        };
        let (name, label) = (domain.name.as_str(), "hgn-train");
        let set = match domain.kind {
            Kind::Ours(ours) => {
                let files = training_problems(ours).unwrap_or_default();
                ProblemSet::of_files(name, label, ours.text(), &files, None)?
            }
            Kind::Own(own) => {
                ProblemSet::of_files(name, "train", &own.domain_text, &own.train, None)?
            }
        };
        let problems = self.push_set(set);
        let config = hgn.config(name)?;
        for seed in spec.first_seed..spec.first_seed + hgn.seeds {
            models.push(self.trainings.len());
            let settings = Settings::Hgn(config.clone());
            let task = self.training(problems, None, settings, seed);
            self.trainings.push(task);
        }
        Ok(())
    }

    /// The models of `[gnn]` for a domain.
    fn add_graph_networks(
        &mut self,
        spec: &Spec,
        domain: &Domain<'_>,
        models: &mut Vec<usize>,
    ) -> Result<(), SpecError> {
        let Some(gnn) = spec.gnn.as_ref().filter(|gnn| gnn.seeds > 0) else {
            return Ok(());
        };
        let set = domain.set("train", gnn.suite, |own| &own.train, gnn.problems)?;
        let problems = self.push_set(set);
        let config = gnn.config(&domain.name)?;
        for seed in spec.first_seed..spec.first_seed + gnn.seeds {
            models.push(self.trainings.len());
            let settings = Settings::Gnn(config.clone());
            let task = self.training(problems, None, settings, seed);
            self.trainings.push(task);
        }
        Ok(())
    }

    /// Equal sets are one.
    fn push_set(&mut self, set: ProblemSet) -> usize {
        let found = self.sets.iter().position(|other| other.key == set.key);
        found.unwrap_or_else(|| {
            self.sets.push(set);
            self.sets.len() - 1
        })
    }

    fn training(
        &self,
        problems: usize,
        select: Option<SelectionTask>,
        config: Settings,
        seed: u64,
    ) -> TrainingTask {
        let set = &self.sets[problems];
        let selected = select.as_ref().map(|select| {
            let how = (select.spec.every, select.spec.max_evaluations);
            (&self.sets[select.problems].key, how)
        });
        let version = env!("CARGO_PKG_VERSION");
        let key = key(&("train", version, &set.key, selected, &config, seed));
        let name = format!("{}-{}-{seed}", set.domain, config.heuristic());
        let cost = match &config {
            Settings::Nlm(config) => config.steps as f64 * step_seconds(set.mean_triples()),
            // Some ten states a problem, 2 ms each.
            Settings::Hgn(config) => {
                let passes = config.folds * config.epochs * set.problems.len();
                passes as f64 * 0.02
            }
            // Some twenty steps an episode, of which half an update reads all; 1 ms a step at the
            // usual width.
            Settings::Gnn(config) => {
                let steps = config.iterations as f64 * config.episodes as f64 * 20.0;
                let width = config.width as f64 / 256.0;
                steps * (1.0 + 0.5 * config.updates as f64) * 1e-3 * width * width
            }
        };
        TrainingTask {
            model: planned_model(&name, &key),
            key,
            cost,
            problems,
            select,
            config,
            seed,
        }
    }

    /// The record of a run, as far as it is known before it.
    fn planned(
        &self,
        mut planned: Evaluation,
        heuristic: &str,
        training: Option<usize>,
        search: SearchKind,
    ) -> Evaluation {
        planned.heuristic = Some(heuristic.to_owned());
        planned.search = search.name().to_owned();
        planned.model = training.map(|at| {
            let training = &self.trainings[at];
            ModelOfRun {
                file: training.model.clone(),
                // Known when it is trained.
                sha256: String::new(),
                seed: training.seed,
                steps: training.config.steps(),
            }
        });
        planned
    }

    /// The dearest first: what begins last should be short, or one worker keeps all waiting. Runs of
    /// the first seed come before those of the second, so that an experiment cut short has whole seeds.
    fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.trainings.len()).collect();
        let cost = |&at: &usize| std::cmp::Reverse((self.trainings[at].cost * 1e3) as u64);
        order.sort_by_key(cost);
        let mut place = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new;
        }
        for task in &mut self.evaluations {
            task.training = task.training.map(|old| place[old]);
        }
        self.trainings = order.iter().map(|&at| self.trainings[at].clone()).collect();
        self.evaluations.sort_by_key(|task| {
            let seed = task.planned.model.as_ref().map(|model| model.seed);
            (seed, std::cmp::Reverse((task.cost * 1e3) as u64))
        });
    }
}

/// A domain or a problem: its name in records, and its text.
#[derive(Clone, Copy, Debug)]
pub struct NamedText<'a> {
    /// The name.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
}

impl Evaluation {
    /// A record of a run that has not been made: what is known before it.
    pub fn planned(domain: NamedText<'_>, problem: NamedText<'_>, objects: usize) -> Self {
        Self {
            format: RECORD_FORMAT,
            key: String::new(),
            domain: domain.name.to_owned(),
            domain_sha256: text_hash(domain.text.as_bytes()),
            problem: problem.name.to_owned(),
            problem_sha256: text_hash(problem.text.as_bytes()),
            objects,
            heuristic: None,
            model: None,
            search: SearchKind::Gbfs.name().to_owned(),
            weight: None,
            unit_cost: false,
            max_evaluations: None,
            time_limit: None,
            memory_limit: None,
            outcome: Outcome::Failed,
            error: None,
            evaluations: 0,
            generated: 0,
            expansions: 0,
            plan_length: None,
            plan_cost: None,
            validated: false,
            search_cpu_seconds: 0.0,
            cpu_seconds: 0.0,
            memory_bytes: None,
            revision: String::new(),
            machine: String::new(),
        }
    }

    /// The key of a run with these inputs. `model` is what identifies the model: the hash of its
    /// file, or the key of its training.
    pub fn key_for(&self, model: Option<&str>) -> String {
        key(&(
            ("evaluate", env!("CARGO_PKG_VERSION")),
            (&self.domain_sha256, &self.problem_sha256),
            (&self.heuristic, model),
            (&self.search, self.weight, self.unit_cost),
            (self.max_evaluations, self.time_limit, self.memory_limit),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> Spec {
        Spec::parse(text).unwrap()
    }

    const SMALL: &str = r#"
        title = "small"
        domains = ["blocks", "ferry"]
        heuristics = ["add", "ff"]
        seeds = 2
        [train]
        problems = 5
        config.steps = 100
        [evaluate]
        problems = 3
        max_evaluations = 50
    "#;

    fn keys(plan: &Plan) -> (Vec<String>, Vec<String>) {
        let mut models: Vec<_> = plan.trainings.iter().map(|t| t.key.clone()).collect();
        let mut runs: Vec<_> = plan
            .evaluations
            .iter()
            .map(|e| e.planned.key.clone())
            .collect();
        models.sort();
        runs.sort();
        (models, runs)
    }

    fn plan_of(text: &str) -> Plan {
        Plan::new(&spec(text), &BTreeMap::new()).unwrap()
    }

    #[test]
    fn every_task_has_a_key_of_its_own() {
        let plan = plan_of(SMALL);
        assert_eq!(plan.trainings.len(), 2 * 2 * 2);
        assert_eq!(plan.evaluations.len(), 2 * 3 * (2 + 2 * 2));
        let (mut models, mut runs) = keys(&plan);
        models.dedup();
        runs.dedup();
        assert_eq!((models.len(), runs.len()), (8, 36));
        for task in &plan.evaluations {
            if let Some(at) = task.training {
                let model = task.planned.model.as_ref().unwrap();
                assert_eq!(plan.trainings[at].model, model.file);
                assert_eq!(plan.trainings[at].seed, model.seed);
            }
        }
    }

    #[test]
    fn a_change_touches_only_what_depends_on_it() {
        let before = keys(&plan_of(SMALL));
        let same = |changed: &str| {
            let after = keys(&plan_of(changed));
            let common = |one: &[String], other: &[String]| {
                one.iter().filter(|key| other.contains(key)).count()
            };
            (common(&before.0, &after.0), common(&before.1, &after.1))
        };
        assert_eq!(same(&SMALL.replace("small", "other title")), (8, 36));
        assert_eq!(same(&SMALL.replace("seeds = 2", "seeds = 3")), (8, 36));
        // Models stay, runs do not.
        assert_eq!(same(&SMALL.replace("= 50", "= 60")), (8, 0));
        // Base runs stay.
        assert_eq!(same(&SMALL.replace("steps = 100", "steps = 200")), (0, 12));
        // One of two domains.
        let layers = format!("{SMALL}\n[train.domain.ferry]\nlayers = 6\n");
        assert_eq!(same(&layers), (4, 36 - 12));
    }

    #[test]
    fn a_spread_takes_from_all_stretches() {
        assert_eq!(spread(3, Some(5)), [0, 1, 2]);
        assert_eq!(spread(3, None), [0, 1, 2]);
        assert_eq!(spread(10, Some(5)), [1, 3, 5, 7, 9]);
        assert_eq!(spread(250, Some(1)), [125]);
        for (len, count) in [(250, 24), (700, 24), (300, 299)] {
            let chosen = spread(len, Some(count));
            assert_eq!(chosen.len(), count);
            assert!(chosen.is_sorted_by(|a, b| a < b) && chosen[count - 1] < len);
        }
    }

    #[test]
    fn mistakes_in_the_file_are_named() {
        let message = |text: &str| Spec::parse(text).unwrap_err().to_string();
        assert!(message("title = 'x'").contains("no domain is named"));
        let unknown = "title = 'x'\ndomains = ['blocks']\ncolour = 3";
        assert!(message(unknown).contains("colour"), "{}", message(unknown));
        let preset = "title = 'x'\ndomains = ['blocks']\nseeds = 1\ntrain.preset = 'best'";
        assert!(message(preset).contains("no preset `best`"));
        let nothing = "title = 'x'\ndomains = ['blocks']\n";
        assert!(message(nothing).contains("nothing to do"));
        let both = message("title = 'x'\ntrain.domain.gripper.layers = 6");
        assert_eq!(both.lines().count(), 3, "{both}");
        let other = format!("{SMALL}\n[train.domain.gripper]\nlayers = 6\n");
        assert!(message(&other).contains("train.domain.gripper"));
        let setting = SMALL.replace("config.steps = 100", "config.strides = 100");
        assert!(
            message(&setting).contains("strides"),
            "{}",
            message(&setting)
        );
    }
}

//! The models that a client may name: those that ship, those of the folder that the server was
//! given, and those trained here. Clients never name files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use homing::models::{AUTO, SHIPPED};
use homing::{Error, load_model};
use serde_json::{Value, json};

use crate::job::ModelPlace;

/// Models trained here that are kept; the oldest go first.
const MOST_TRAINED: usize = 20;

/// Models by name.
#[derive(Debug)]
pub(crate) struct Models {
    /// Of the given folder: name, file and domain.
    given: BTreeMap<String, (PathBuf, String)>,
    trained: Mutex<Trained>,
    /// Where models trained here are, and those that ship once they are asked for by name.
    folder: PathBuf,
}

#[derive(Debug, Default)]
struct Trained {
    next: usize,
    /// Name and domain, the oldest first.
    done: Vec<(String, String)>,
}

impl Models {
    /// With the models of a folder.
    pub(crate) fn new(given: Option<&Path>, folder: PathBuf) -> Result<Self, Error> {
        let mut models = BTreeMap::new();
        for path in given.map_or_else(|| Ok(Vec::new()), homing::input::entries)? {
            if path.extension().is_some_and(|end| end == "safetensors") {
                let domain = load_model(&path)?.domain().to_owned();
                let stem = path.file_stem().unwrap_or_default();
                models.insert(stem.to_string_lossy().into_owned(), (path, domain));
            }
        }
        Ok(Self {
            given: models,
            trained: Mutex::default(),
            folder,
        })
    }

    /// Where a model of this name is.
    pub(crate) fn find(&self, name: &str) -> Option<ModelPlace> {
        if let Some((path, _)) = self.given.get(name) {
            return Some(ModelPlace::File(path.clone()));
        }
        if SHIPPED.iter().any(|shipped| shipped.name == name) {
            return Some(ModelPlace::Shipped(name.to_owned()));
        }
        let trained = self.trained.lock().expect("no thread panics here");
        let known = trained.done.iter().any(|(at, _)| at == name);
        known.then(|| ModelPlace::File(self.file(name)))
    }

    /// A model's file, for a request to solve: one that ships is written to the server's folder.
    pub(crate) fn file_for_solving(&self, name: &str) -> Result<PathBuf, String> {
        if name == AUTO {
            return Ok(AUTO.into());
        }
        match self.find(name) {
            Some(ModelPlace::File(path)) => Ok(path),
            Some(ModelPlace::Shipped(name)) => {
                let path = self.file(&name.replace('/', "-"));
                let shipped = SHIPPED.iter().find(|shipped| shipped.name == name);
                if let (Some(shipped), false) = (shipped, path.is_file()) {
                    homing::files::write_whole(&path, shipped.bytes)
                        .map_err(|_| "the model cannot be made ready".to_owned())?;
                }
                Ok(path)
            }
            None => Err(format!("there is no model `{name}` here")),
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.safetensors"))
    }

    /// A name and a file for a model to be trained.
    pub(crate) fn begin(&self) -> (String, PathBuf) {
        let mut trained = self.trained.lock().expect("no thread panics here");
        trained.next += 1;
        let name = format!("trained-{}", trained.next);
        let file = self.file(&name);
        (name, file)
    }

    /// The model is trained.
    pub(crate) fn finish(&self, name: String, domain: String) {
        let mut trained = self.trained.lock().expect("no thread panics here");
        trained.done.push((name, domain));
        if trained.done.len() > MOST_TRAINED {
            let (oldest, _) = trained.done.remove(0);
            let _ = std::fs::remove_file(self.file(&oldest));
        }
    }

    /// The bytes of a model trained here.
    pub(crate) fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let trained = self.trained.lock().expect("no thread panics here");
        let known = trained.done.iter().any(|(at, _)| at == name);
        let file = known.then(|| self.file(name))?;
        std::fs::read(file).ok()
    }

    /// All of them, for a list.
    pub(crate) fn list(&self) -> Value {
        let trained = self.trained.lock().expect("no thread panics here");
        let trained = trained.done.iter();
        let trained = trained
            .map(|(name, domain)| json!({"name": name, "domain": domain, "from": "trained here"}));
        let given = self.given.iter();
        let given = given.map(|(name, (_, domain))| json!({"name": name, "domain": domain, "from": "the given folder"}));
        let shipped = SHIPPED.iter().map(|shipped| {
            let domain = shipped.name.rsplit('/').next().unwrap_or_default();
            json!({"name": shipped.name, "domain": domain, "from": "ships with homing"})
        });
        json!(trained.chain(given).chain(shipped).collect::<Vec<_>>())
    }
}

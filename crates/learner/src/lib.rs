//! Learning a value function for a planning domain, as a correction to a classical heuristic.
//!
//! A [`Trainer`] walks in small problems and learns ([`TrainConfig`] says how); a [`Model`] is what
//! it learnt, and goes to a file and back; [`Learned`] is the model as a heuristic for any search.
//! [`Tabular`] solves the same decision process exactly where it is small.

mod checkpoint;
mod compute;
mod config;
mod container;
mod counts;
mod cut;
mod encode;
mod encodings;
mod exact;
mod faults;
mod gnn;
mod hgn;
mod learn;
mod learned;
mod model;
mod network_training;
mod ranking;
mod record;
mod replay;
mod seal;
mod shaping;
mod signature;
mod state_space;
mod tabular;
mod teamwork;
pub mod tensorboard;
mod trainer;
mod value;

pub use compute::Compute;
pub use config::{
    BucketBy, CapacityOf, ConfigProblem, ConfigProblems, NetworkObjective, NetworkReadout, Policy,
    Reduce, Reward, TrainConfig,
};
pub use counts::{
    CountsConfig, CountsFunction, CountsHeader, CountsHeuristic, CountsModel, FeatureCounter,
    FeatureInWords, GraphSpec, Trust, WEIGHT_SCALE,
};
pub use cut::{Cut, CutConfig, CutReport, CutStatistics, Cutter, SampledCuts};
pub use encode::{Channels, Encoder};
pub use exact::{Distance, ExactSpace, Sample, WalkEnd, WalkLimits};
#[doc(hidden)]
pub use gnn::probe as gnn_probe;
pub use gnn::{
    GnnConfig, GnnError, GnnHeader, GnnModel, GnnRollouts, GnnSummary, GnnTrainer, GraphShape,
    IterationRecord, Returns, RolloutScore,
};
#[doc(hidden)]
pub use hgn::HgnProbe;
pub use hgn::{
    FoldReport, HgnConfig, HgnError, HgnHeader, HgnHeuristic, HgnModel, HgnProgress, HgnReport,
    HgnTrainer, LabelReport, Places,
};
pub use homing_nlm::{Simd, SimdError};
pub use learn::{
    CandidateRecord, DataSource, Examples, FunctionConfig, LearnConfig, LearnError, LearnProgress,
    LearnReport, Objective, SelectionConfig, learn, learn_from,
};
pub use learned::Learned;
pub use model::{FORMAT_VERSION, Model, ModelError, ModelHeader, TrainingSummary};
pub use network_training::NetworkTraining;
pub use ranking::{
    ExactConfig, FitReport, GatherReport, RankingConfig, RankingTrainer, TrainingProblem,
    TrainingSet, fit, fit_watched, gather,
};
pub use record::{SgdRecord, StepRecord, Timings, TrainError};
pub use shaping::{Mdp, discounted, undiscounted};
pub use signature::{Difference, MixedDomains, Signature};
pub use tabular::{Solution, Tabular, TooLarge};
pub use trainer::Trainer;
pub use value::{AnyModel, Improvable, Label, ValueFunction, ValueKind};

//! The checked lifted problem ⟨O, P, A, I, G⟩ (paper, Sec. "Classical Planning").
//!
//! Names are in lower case; everything that refers to a name refers to its index.

use std::collections::HashMap;
use std::sync::Arc;

use crate::index_type;
use crate::source::Place;

index_type! {
    /// Index into [`Domain::types`].
    TypeId,
    /// Index into [`Domain::predicates`].
    PredicateId,
    /// Index into [`Domain::functions`].
    FunctionId,
    /// Index into [`Problem::objects`].
    ObjectId,
    /// Index into [`Domain::actions`].
    SchemaId,
}

macro_rules! requirements {
    ($($name:ident $keyword:literal)*) => {
        /// A requirement of PDDL. Requirements are advice: what a file makes use of decides.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Requirement {
            $(
                #[doc = concat!("`", $keyword, "`")]
                $name,
            )*
        }

        impl Requirement {
            /// Every requirement of PDDL that homing knows of, in canonical order.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// As written in PDDL.
            pub fn keyword(self) -> &'static str {
                match self {
                    $(Self::$name => $keyword,)*
                }
            }
        }
    };
}

requirements! {
    Strips ":strips"
    Typing ":typing"
    Equality ":equality"
    NegativePreconditions ":negative-preconditions"
    DisjunctivePreconditions ":disjunctive-preconditions"
    ExistentialPreconditions ":existential-preconditions"
    UniversalPreconditions ":universal-preconditions"
    QuantifiedPreconditions ":quantified-preconditions"
    ConditionalEffects ":conditional-effects"
    DerivedPredicates ":derived-predicates"
    DomainAxioms ":domain-axioms"
    Adl ":adl"
    ActionCosts ":action-costs"
    Fluents ":fluents"
    NumericFluents ":numeric-fluents"
    ObjectFluents ":object-fluents"
    DurativeActions ":durative-actions"
    DurationInequalities ":duration-inequalities"
    ContinuousEffects ":continuous-effects"
    TimedInitialLiterals ":timed-initial-literals"
    Preferences ":preferences"
    Constraints ":constraints"
    Hierarchy ":hierarchy"
    NonDeterministic ":non-deterministic"
    ProbabilisticEffects ":probabilistic-effects"
}

impl Requirement {
    /// Whether declaring this one declares `other` too.
    pub fn includes(self, other: Self) -> bool {
        self == other
            || match self {
                Self::QuantifiedPreconditions => matches!(
                    other,
                    Self::ExistentialPreconditions | Self::UniversalPreconditions
                ),
                Self::DomainAxioms => other == Self::DerivedPredicates,
                // Costs are a part of numeric fluents.
                Self::Fluents | Self::NumericFluents => other == Self::ActionCosts,
                Self::Adl => matches!(
                    other,
                    Self::Strips
                        | Self::Typing
                        | Self::Equality
                        | Self::NegativePreconditions
                        | Self::DisjunctivePreconditions
                        | Self::ExistentialPreconditions
                        | Self::UniversalPreconditions
                        | Self::QuantifiedPreconditions
                        | Self::ConditionalEffects
                ),
                _ => false,
            }
    }
}

/// A type; [`TypeId`] 0 is `object`, the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// Its name.
    pub name: String,
    /// Its direct supertypes: one, or several where `either` was written.
    pub parents: Vec<TypeId>,
}

/// A typed name: a parameter of a predicate, function or action.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parameter {
    /// Its name without the question mark.
    pub name: String,
    /// An argument must belong to one of these types; never empty.
    pub types: Vec<TypeId>,
}

/// A predicate p ∈ P.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// Its name.
    pub name: String,
    /// Its parameters; their number is the arity #p.
    pub parameters: Vec<Parameter>,
}

/// A numeric function, whose values the initial state gives once and for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
}

/// An object o ∈ O, or a constant of the domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its name.
    pub name: String,
    /// The types it was declared with; never empty.
    pub types: Vec<TypeId>,
}

/// An argument in an action schema, an axiom or a quantified condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// The variable of this index in scope: first the parameters of the action or axiom, then those
    /// of a universal effect, then those of quantifiers from the outside in.
    Parameter(usize),
    /// A constant.
    Object(ObjectId),
}

/// A predicate applied to arguments: lifted with [`Term`]s, ground with [`ObjectId`]s.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Atom<T> {
    /// The predicate.
    pub predicate: PredicateId,
    /// As many arguments as its arity.
    pub arguments: Vec<T>,
}

/// An atom or its negation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Literal<T> {
    /// The atom.
    pub atom: Atom<T>,
    /// `false` for `(not ...)`.
    pub positive: bool,
}

/// `(= left right)`, or `(not (= left right))`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Equality<T> {
    /// The left side.
    pub left: T,
    /// The right side.
    pub right: T,
    /// `false` where the two must differ.
    pub equal: bool,
}

/// A condition in negation normal form: `imply` is gone, and `not` stands before atoms and
/// equalities only.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    /// An atom or its negation.
    Literal(Literal<Term>),
    /// Two terms are equal, or differ.
    Equality(Equality<Term>),
    /// All of these; true where there are none.
    And(Vec<Formula>),
    /// One of these; false where there are none.
    Or(Vec<Formula>),
    /// For all values of these variables.
    Forall(Vec<Parameter>, Box<Formula>),
    /// For some values of these variables.
    Exists(Vec<Parameter>, Box<Formula>),
}

/// A conjunction: all literals, all equalities and all formulas must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition<T> {
    /// Literals in the order written.
    pub literals: Vec<Literal<T>>,
    /// Equalities in the order written.
    pub equalities: Vec<Equality<T>>,
    /// What is neither: disjunctions and quantified formulas, in the order written.
    pub formulas: Vec<Formula>,
}

impl<T> Default for Condition<T> {
    fn default() -> Self {
        Self {
            literals: Vec::new(),
            equalities: Vec::new(),
            formulas: Vec::new(),
        }
    }
}

/// What stands in `(increase (total-cost) ...)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CostTerm {
    /// By a number.
    Constant(u32),
    /// By the value of a function in the initial state.
    Function(FunctionId, Vec<Term>),
}

/// An effect that takes place where its condition holds before the action, for every value of its
/// parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionalEffect {
    /// The variables of `(forall ...)`: they follow the action's parameters.
    pub parameters: Vec<Parameter>,
    /// The condition of `(when ...)`; holds always in a universal effect without one.
    pub condition: Condition<Term>,
    /// What is added.
    pub add: Vec<Atom<Term>>,
    /// What is deleted; an atom that anything adds ends up true.
    pub del: Vec<Atom<Term>>,
}

/// A rule of a derived predicate: the predicate holds of its parameters where the condition does,
/// and nowhere else unless another rule of it says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axiom {
    /// The derived predicate.
    pub predicate: PredicateId,
    /// As many as its arity, all different.
    pub parameters: Vec<Parameter>,
    /// When it holds.
    pub condition: Condition<Term>,
}

/// A lifted action a ∈ A.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionSchema {
    /// Its name.
    pub name: String,
    /// Its parameters X.
    pub parameters: Vec<Parameter>,
    /// pre(a)
    pub precondition: Condition<Term>,
    /// add(a)
    pub add: Vec<Atom<Term>>,
    /// del(a); an atom both deleted and added ends up true.
    pub del: Vec<Atom<Term>>,
    /// What happens under conditions, or to all objects of a type.
    pub conditional: Vec<ConditionalEffect>,
    /// cost(a) where the problem has a metric, 0 if it is not given; without a metric it is 1. The
    /// last increase of the action, as Fast Downward reads it.
    pub cost: Option<CostTerm>,
}

/// A checked domain.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Its name.
    pub name: String,
    /// What it declares, in canonical order.
    pub requirements: Vec<Requirement>,
    /// Its types; the first is `object`.
    pub types: Vec<Type>,
    /// Its constants: the first objects of every problem.
    pub constants: Vec<Object>,
    /// Its predicates P.
    pub predicates: Vec<Predicate>,
    /// Its functions, `total-cost` left out.
    pub functions: Vec<Function>,
    /// Its action schemas A.
    pub actions: Vec<ActionSchema>,
    /// The rules of its derived predicates: none depends on its own negation for any arguments,
    /// though for some it may.
    pub axioms: Vec<Axiom>,
    pub(crate) places: DomainPlaces,
    /// `ancestors[t]` holds t and all its supertypes in ascending order.
    pub(crate) ancestors: Vec<Vec<TypeId>>,
}

/// Where the names of a domain are declared: messages about problems point there.
#[derive(Clone, Debug)]
pub(crate) struct DomainPlaces {
    pub(crate) name: Place,
    pub(crate) types: Vec<Option<Place>>,
    pub(crate) constants: Vec<Place>,
    pub(crate) predicates: Vec<Place>,
    pub(crate) functions: Vec<Place>,
    /// By derived predicate: its first rule.
    pub(crate) rules: HashMap<PredicateId, Place>,
}

/// Places aside: where a name was declared does not make a domain another one.
impl PartialEq for Domain {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.requirements == other.requirements
            && self.types == other.types
            && self.constants == other.constants
            && self.predicates == other.predicates
            && self.functions == other.functions
            && self.actions == other.actions
            && self.axioms == other.axioms
    }
}

impl Domain {
    /// The root type `object`.
    pub const OBJECT: TypeId = TypeId(0);

    /// Whether everything of type `sub` is of type `sup`.
    pub fn is_subtype(&self, sub: TypeId, sup: TypeId) -> bool {
        self.ancestors[sub.index()].binary_search(&sup).is_ok()
    }

    /// Whether an object declared with `declared` may stand where one of `expected` is asked for.
    pub fn fits(&self, declared: &[TypeId], expected: &[TypeId]) -> bool {
        declared
            .iter()
            .any(|&sub| expected.iter().any(|&sup| self.is_subtype(sub, sup)))
    }

    /// Finds a predicate by its name in lower case.
    pub fn predicate(&self, name: &str) -> Option<PredicateId> {
        self.predicates
            .iter()
            .position(|predicate| predicate.name == name)
            .map(PredicateId::from_index)
    }
}

impl Domain {
    /// Whether a predicate is derived: rules decide it, not effects.
    pub fn is_derived(&self, predicate: PredicateId) -> bool {
        self.axioms.iter().any(|axiom| axiom.predicate == predicate)
    }
}

/// The value of a function for given arguments, from the initial state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionValue {
    /// The function.
    pub function: FunctionId,
    /// Its arguments.
    pub arguments: Vec<ObjectId>,
    /// Its value.
    pub value: u32,
}

/// A checked problem ⟨O, P, A, I, G⟩ of a domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Its name.
    pub name: String,
    /// P and A.
    pub domain: Arc<Domain>,
    /// O: the domain's constants, then the problem's objects.
    pub objects: Vec<Object>,
    /// I: the propositions true at the start, without repetition.
    pub init: Vec<Atom<ObjectId>>,
    /// Function values given in the initial state.
    pub values: Vec<FunctionValue>,
    /// G.
    pub goal: Condition<ObjectId>,
    /// Whether the metric is to minimise the total cost; otherwise every action costs 1.
    pub minimize_cost: bool,
}

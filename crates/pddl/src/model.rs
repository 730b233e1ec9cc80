//! The checked lifted problem ⟨O, P, A, I, G⟩ (paper, Sec. "Classical Planning").
//!
//! Names are in lower case; everything that refers to a name refers to its index.

use std::sync::Arc;

use crate::source::Place;

macro_rules! index_type {
    ($(#[$doc:meta] $name:ident),+ $(,)?) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into the list it belongs to.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// From an index into the list it belongs to.
            ///
            /// # Panics
            ///
            /// If the index does not fit 32 bits.
            pub fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("more than 2^32 of a kind"))
            }
        }
    )+};
}

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

/// A requirement that homing reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Requirement {
    /// `:strips`
    Strips,
    /// `:typing`
    Typing,
    /// `:equality`
    Equality,
    /// `:negative-preconditions`
    NegativePreconditions,
    /// `:action-costs`
    ActionCosts,
}

impl Requirement {
    /// Every requirement that homing reads.
    pub const ALL: [Self; 5] = [
        Self::Strips,
        Self::Typing,
        Self::Equality,
        Self::NegativePreconditions,
        Self::ActionCosts,
    ];

    /// As written in PDDL.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Strips => ":strips",
            Self::Typing => ":typing",
            Self::Equality => ":equality",
            Self::NegativePreconditions => ":negative-preconditions",
            Self::ActionCosts => ":action-costs",
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
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// An argument in an action schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// The action's parameter of this index.
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

/// A conjunction: all literals and all equalities must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition<T> {
    /// Literals in the order written.
    pub literals: Vec<Literal<T>>,
    /// Equalities in the order written.
    pub equalities: Vec<Equality<T>>,
}

impl<T> Default for Condition<T> {
    fn default() -> Self {
        Self {
            literals: Vec::new(),
            equalities: Vec::new(),
        }
    }
}

/// One `(increase (total-cost) ...)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CostTerm {
    /// By a number.
    Constant(u32),
    /// By the value of a function in the initial state.
    Function(FunctionId, Vec<Term>),
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
    /// cost(a): the sum of these where the problem has a metric, else 1.
    pub cost: Vec<CostTerm>,
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

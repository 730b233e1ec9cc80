//! Our domain files say what the field's say, so that problems and models trade places.

mod common;

use std::collections::BTreeSet;

use common::field_instances;
use homing_lab::DomainName;
use homing_pddl::model::{ActionSchema, Atom, Condition, Parameter, Term, TypeId};
use homing_pddl::{Domain, Source, check_domain, parse};

fn field_domain(text: Vec<u8>) -> Domain {
    let (tree, mut messages) = parse(&Source::new("field", text));
    let (domain, more) = check_domain(&tree);
    messages.append(more);
    domain.unwrap_or_else(|| panic!("{messages}"))
}

fn types(domain: &Domain, types: &[TypeId]) -> Vec<String> {
    let name = |of: &TypeId| domain.types[of.index()].name.clone();
    types.iter().map(name).collect()
}

fn parameters(domain: &Domain, parameters: &[Parameter]) -> Vec<Vec<String>> {
    let of = |parameter: &Parameter| types(domain, &parameter.types);
    parameters.iter().map(of).collect()
}

type LiftedAtom = (String, Vec<usize>);

fn atom(domain: &Domain, atom: &Atom<Term>) -> LiftedAtom {
    let name = domain.predicates[atom.predicate.index()].name.clone();
    let position = |term: &Term| match term {
        Term::Parameter(at) => *at,
        Term::Object(_) => panic!("there are no constants"),
    };
    (name, atom.arguments.iter().map(position).collect())
}

fn atoms(domain: &Domain, all: &[Atom<Term>]) -> BTreeSet<LiftedAtom> {
    all.iter().map(|one| atom(domain, one)).collect()
}

fn condition(domain: &Domain, condition: &Condition<Term>) -> BTreeSet<(LiftedAtom, bool)> {
    assert!(condition.equalities.is_empty());
    let literals = condition.literals.iter();
    literals
        .map(|literal| (atom(domain, &literal.atom), literal.positive))
        .collect()
}

#[test]
fn our_domains_are_the_fields() {
    let Some(folder) = field_instances() else {
        return;
    };
    for name in DomainName::ALL {
        let path = folder.join(name.as_str()).join("domain.pddl");
        let theirs = field_domain(std::fs::read(path).unwrap());
        let ours = name.domain();
        assert_eq!(ours.name, theirs.name);
        // The order of types is of no consequence; the order of predicates and actions is.
        let hierarchy = |domain: &Domain| -> BTreeSet<(String, Vec<String>)> {
            let all = domain.types.iter();
            all.map(|of| (of.name.clone(), types(domain, &of.parents)))
                .collect()
        };
        assert_eq!(hierarchy(ours), hierarchy(&theirs), "{name}");
        let predicates = |domain: &Domain| -> Vec<(String, Vec<Vec<String>>)> {
            let all = domain.predicates.iter();
            all.map(|p| (p.name.clone(), parameters(domain, &p.parameters)))
                .collect()
        };
        assert_eq!(predicates(ours), predicates(&theirs), "{name}");
        assert_eq!(ours.actions.len(), theirs.actions.len());
        for (our, their) in ours.actions.iter().zip(&theirs.actions) {
            let says = |domain: &Domain, action: &ActionSchema| {
                (
                    action.name.clone(),
                    parameters(domain, &action.parameters),
                    condition(domain, &action.precondition),
                    atoms(domain, &action.add),
                    atoms(domain, &action.del),
                    action.cost.clone(),
                )
            };
            assert_eq!(says(ours, our), says(&theirs, their), "{name}");
        }
    }
}

#[test]
fn our_domain_files_are_written_in_our_own_layout() {
    let Some(folder) = field_instances() else {
        return;
    };
    for name in DomainName::ALL {
        let path = folder.join(name.as_str()).join("domain.pddl");
        let theirs = std::fs::read_to_string(path).unwrap();
        assert_ne!(name.text(), theirs);
    }
}

//! Printing is the inverse of reading, on random sound domains and problems written in random ways.

use std::sync::Arc;

use homing_pddl::{Problem, Source, read_problem};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Decisions made by bytes drawn beforehand: fewer or smaller bytes make a smaller case, so that
/// a failing one shrinks.
struct Tape {
    bytes: Vec<u8>,
    at: usize,
}

impl Tape {
    /// A number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % bound.max(1)
    }

    fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == one_in - 1
    }
}

/// Indices into the types; 0 is `object`.
type Types = Vec<usize>;

/// A domain and a problem under construction, with what must be found in them.
struct Writer {
    tape: Tape,
    text: String,
    /// `ancestors[t]`: t and all its supertypes.
    ancestors: Vec<Vec<usize>>,
    predicates: Vec<Vec<Types>>,
    functions: Vec<Vec<Types>>,
}

impl Writer {
    /// Writes a word in a random case, with random blanks before it.
    fn word(&mut self, word: &str) {
        let blank = [" ", "\n", " ; a comment (\n", "\t", "\r\n"][self.tape.below(25) / 5];
        self.text.push_str(blank);
        if self.tape.chance(4) {
            self.text.push_str(&word.to_uppercase());
        } else {
            self.text.push_str(word);
        }
    }

    fn words(&mut self, text: &str) {
        text.split_whitespace().for_each(|word| self.word(word));
    }

    fn type_name(index: usize) -> String {
        match index {
            0 => "object".to_owned(),
            index => format!("t{index}"),
        }
    }

    /// One type or several, among the first `known`.
    fn some_types(&mut self, known: usize) -> Types {
        let mut types = vec![self.tape.below(known)];
        while self.tape.chance(5) {
            let another = self.tape.below(known);
            if !types.contains(&another) {
                types.push(another);
            }
        }
        types
    }

    fn write_types(&mut self, types: &[usize]) {
        self.word("-");
        if let [only] = types {
            self.word(&Self::type_name(*only));
        } else {
            self.words("( either");
            for &t in types {
                self.word(&Self::type_name(t));
            }
            self.word(")");
        }
    }

    fn typed(&mut self, name: &str, types: &[usize]) {
        self.word(name);
        self.write_types(types);
    }

    fn parameters(&mut self) -> Vec<Types> {
        let count = self.tape.below(4);
        let mut parameters = Vec::new();
        for index in 0..count {
            let types = self.some_types(self.ancestors.len());
            self.typed(&format!("?x{index}"), &types);
            parameters.push(types);
        }
        parameters
    }

    fn fits(&self, declared: &[usize], expected: &[usize]) -> bool {
        declared
            .iter()
            .any(|&sub| expected.iter().any(|sup| self.ancestors[sub].contains(sup)))
    }

    /// Arguments for `expected` out of `terms`, if there are any that fit.
    fn arguments(&mut self, expected: &[Types], terms: &[(String, Types)]) -> Option<Vec<String>> {
        expected
            .iter()
            .map(|types| {
                let fitting: Vec<usize> = (0..terms.len())
                    .filter(|&at| self.fits(&terms[at].1, types))
                    .collect();
                let choice = self.tape.below(fitting.len());
                fitting.get(choice).map(|&at| terms[at].0.clone())
            })
            .collect()
    }

    /// Writes an atom with arguments out of `terms`, or says that there is none that fits.
    fn atom(&mut self, terms: &[(String, Types)]) -> Option<String> {
        if self.predicates.is_empty() {
            return None;
        }
        let index = self.tape.below(self.predicates.len());
        let expected = self.predicates[index].clone();
        let arguments = self.arguments(&expected, terms)?;
        Some(format!("( p{index} {} )", arguments.join(" ")))
    }

    /// A formula, `None` where no atom fits. Quantifiers may hide variables further out.
    fn formula(&mut self, terms: &[(String, Types)], depth: usize) -> Option<String> {
        let choice = if depth == 0 { 0 } else { self.tape.below(12) };
        match choice {
            0..=4 => {
                let formula = if !terms.is_empty() && self.tape.chance(4) {
                    let left = self.tape.below(terms.len());
                    let right = self.tape.below(terms.len());
                    format!("( = {} {} )", terms[left].0, terms[right].0)
                } else {
                    self.atom(terms)?
                };
                Some(match self.tape.chance(3) {
                    true => format!("( not {formula} )"),
                    false => formula,
                })
            }
            5..=7 => {
                let word = ["and", "or"][self.tape.below(2)];
                let parts: Vec<String> = (0..self.tape.below(4))
                    .filter_map(|_| self.formula(terms, depth - 1))
                    .collect();
                Some(format!("( {word} {} )", parts.join(" ")))
            }
            8 => {
                let left = self.formula(terms, depth - 1)?;
                let right = self.formula(terms, depth - 1)?;
                Some(format!("( imply {left} {right} )"))
            }
            9 => Some(format!("( not {} )", self.formula(terms, depth - 1)?)),
            _ => {
                let word = ["forall", "exists"][self.tape.below(2)];
                let (declared, terms) = self.bind(terms);
                let body = self.formula(&terms, depth - 1)?;
                Some(format!("( {word} ( {declared} ) {body} )"))
            }
        }
    }

    /// A variable of a quantifier, and the terms in its scope.
    fn bind(&mut self, terms: &[(String, Types)]) -> (String, Vec<(String, Types)>) {
        let name = format!("?x{}", self.tape.below(4));
        let types = self.some_types(self.ancestors.len());
        let names: Vec<String> = types.iter().map(|&t| Self::type_name(t)).collect();
        let declared = match names.as_slice() {
            [only] => format!("{name} - {only}"),
            several => format!("{name} - ( either {} )", several.join(" ")),
        };
        let mut terms = terms.to_vec();
        terms.retain(|(known, _)| *known != name);
        terms.push((name, types));
        (declared, terms)
    }

    fn condition(&mut self, terms: &[(String, Types)]) {
        self.words("( and");
        for _ in 0..self.tape.below(5) {
            let depth = self.tape.below(4);
            if let Some(formula) = self.formula(terms, depth) {
                self.words(&formula);
            }
        }
        self.word(")");
    }

    /// Something that an action does, `None` where no atom fits.
    fn change(&mut self, terms: &[(String, Types)], depth: usize) -> Option<String> {
        let choice = if depth == 0 { 0 } else { self.tape.below(8) };
        match choice {
            0..=3 => {
                let atom = self.atom(terms)?;
                Some(match self.tape.chance(2) {
                    true => format!("( not {atom} )"),
                    false => atom,
                })
            }
            4 => {
                let parts: Vec<String> = (0..self.tape.below(4))
                    .filter_map(|_| self.change(terms, depth - 1))
                    .collect();
                Some(format!("( and {} )", parts.join(" ")))
            }
            5 | 6 => {
                let condition = self.formula(terms, 2)?;
                let change = self.change(terms, depth - 1)?;
                Some(format!("( when {condition} {change} )"))
            }
            _ => {
                let (declared, terms) = self.bind(terms);
                let change = self.change(&terms, depth - 1)?;
                Some(format!("( forall ( {declared} ) {change} )"))
            }
        }
    }

    fn effect(&mut self, terms: &[(String, Types)]) {
        self.words("( and");
        for _ in 0..self.tape.below(5) {
            if let Some(change) = self.change(terms, 3) {
                self.words(&change);
            }
        }
        for _ in 0..self.tape.below(3) {
            let amount = if self.functions.is_empty() || self.tape.chance(2) {
                Some(self.tape.below(200).to_string())
            } else {
                let index = self.tape.below(self.functions.len());
                let expected = self.functions[index].clone();
                self.arguments(&expected, terms)
                    .map(|arguments| format!("( f{index} {} )", arguments.join(" ")))
            };
            if let Some(amount) = amount {
                let spelling = ["total-cost", "total_cost"][self.tape.below(2)];
                self.words(&format!("( increase ( {spelling} ) {amount} )"));
            }
        }
        self.word(")");
    }

    fn domain(&mut self) -> (Vec<(String, Types)>, usize) {
        self.words("( define ( domain d )");
        let requirements = [
            ":strips",
            ":equality",
            ":negative-preconditions",
            ":action-costs",
        ];
        self.words("( :requirements :typing");
        for requirement in requirements {
            if self.tape.chance(2) {
                self.word(requirement);
            }
        }
        self.words(") ( :types");
        for index in 1..=self.tape.below(6) {
            let parents = self.some_types(index);
            self.typed(&Self::type_name(index), &parents);
            let mut ancestors = vec![index];
            for parent in parents {
                ancestors.extend_from_slice(&self.ancestors[parent]);
            }
            self.ancestors.push(ancestors);
        }
        self.words(") ( :constants");
        let mut constants = Vec::new();
        for index in 0..self.tape.below(4) {
            let types = self.some_types(self.ancestors.len());
            self.typed(&format!("c{index}"), &types);
            constants.push((format!("c{index}"), types));
        }
        self.words(") ( :predicates");
        for index in 0..=self.tape.below(4) {
            self.words(&format!("( p{index}"));
            let parameters = self.parameters();
            self.predicates.push(parameters);
            self.word(")");
        }
        self.words("( d0 ?x ) ( d1 ?x ) ( d2 ?x )");
        self.words(") ( :functions ( total-cost ) - number");
        for index in 0..self.tape.below(3) {
            self.words(&format!("( f{index}"));
            let parameters = self.parameters();
            self.functions.push(parameters);
            self.words(") - number");
        }
        self.word(")");
        // Derived predicates are no actions' to change: they come last, and nothing else names them.
        for index in 0..self.tape.below(3) {
            self.words(&format!("( :derived ( d{index} ?x0 ) "));
            let mut terms = vec![("?x0".to_owned(), vec![0])];
            terms.extend(constants.iter().cloned());
            self.condition(&terms);
            self.word(")");
        }
        let actions = self.tape.below(4);
        for index in 0..actions {
            self.words(&format!("( :action a{index} :parameters ("));
            let parameters = self.parameters();
            let mut terms: Vec<(String, Types)> = parameters
                .into_iter()
                .enumerate()
                .map(|(at, types)| (format!("?x{at}"), types))
                .collect();
            terms.extend(constants.iter().cloned());
            self.word(")");
            if !self.tape.chance(4) {
                self.word(":precondition");
                self.condition(&terms);
            }
            self.word(":effect");
            self.effect(&terms);
            self.word(")");
        }
        self.word(")");
        (constants, actions)
    }

    fn problem(&mut self, mut objects: Vec<(String, Types)>) -> usize {
        self.words("( define ( problem q ) ( :domain d ) ( :objects");
        for index in 0..self.tape.below(5) {
            let types = self.some_types(self.ancestors.len());
            self.typed(&format!("o{index}"), &types);
            objects.push((format!("o{index}"), types));
        }
        self.words(") ( :init");
        for _ in 0..self.tape.below(8) {
            if let Some(atom) = self.atom(&objects) {
                self.words(&atom);
            }
        }
        for index in 0..self.functions.len() {
            let expected = self.functions[index].clone();
            for _ in 0..self.tape.below(4) {
                if let Some(arguments) = self.arguments(&expected, &objects) {
                    // The same arguments must get the same value again.
                    let arguments = arguments.join(" ");
                    let value: u32 = arguments.bytes().map(u32::from).sum();
                    self.words(&format!("( = ( f{index} {arguments} ) {value} )"));
                }
            }
        }
        self.words(") ( :goal");
        self.condition(&objects);
        self.word(")");
        if self.tape.chance(2) {
            self.words("( :metric minimize ( total-cost ) )");
        }
        self.word(")");
        objects.len()
    }
}

fn read(domain: &str, problem: &str) -> Problem {
    let file = |name, text: &str| -> Arc<Source> { Source::new(name, text.as_bytes().to_vec()) };
    let (read, messages) = read_problem(&file("domain.pddl", domain), &file("p.pddl", problem));
    read.unwrap_or_else(|| panic!("{messages}\n{domain}\n{problem}"))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 20_000,
        failure_persistence: None,
        rng_seed: match ProptestConfig::default().rng_seed {
            RngSeed::Random => RngSeed::Fixed(20_240_602),
            fixed => fixed,
        },
        ..ProptestConfig::default()
    })]

    #[test]
    fn reading_what_was_printed_gives_the_same(bytes in vec(any::<u8>(), 0..700)) {
        let mut writer = Writer {
            tape: Tape { bytes, at: 0 },
            text: String::new(),
            ancestors: vec![vec![0]],
            predicates: Vec::new(),
            functions: Vec::new(),
        };
        let (constants, actions) = writer.domain();
        let domain = std::mem::take(&mut writer.text);
        let objects = writer.problem(constants);
        let first = read(&domain, &writer.text);
        // Three more may be derived.
        prop_assert_eq!(first.domain.predicates.len(), writer.predicates.len() + 3);
        prop_assert_eq!(first.domain.types.len(), writer.ancestors.len());
        prop_assert_eq!(first.domain.actions.len(), actions);
        prop_assert_eq!(first.objects.len(), objects);

        let (domain, problem) = (first.domain.to_string(), first.to_string());
        let second = read(&domain, &problem);
        prop_assert_eq!(&second, &first);
        prop_assert_eq!(second.domain.to_string(), domain);
        prop_assert_eq!(second.to_string(), problem);
    }
}

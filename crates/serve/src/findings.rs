//! Messages about PDDL as data: for editors.

use homing_pddl::{Diagnostic, Diagnostics, Severity, Source, check_domain, parse, read_problem};

use crate::job::Finding;

/// Everything that is wrong with a domain and problems of it.
pub(crate) fn check(domain: &str, problems: &[String]) -> Vec<Finding> {
    let domain = Source::new("DOMAIN", domain.as_bytes().to_vec());
    let (tree, mut diagnostics) = parse(&domain);
    diagnostics.append(check_domain(&tree).1);
    let mut findings = all(&diagnostics);
    for (index, problem) in problems.iter().enumerate() {
        let problem = Source::new(format!("PROBLEM:{index}"), problem.as_bytes().to_vec());
        let (_, diagnostics) = read_problem(&domain, &problem);
        let of_problem = |finding: &Finding| finding.location == problem.name();
        findings.extend(all(&diagnostics).into_iter().filter(of_problem));
    }
    findings
}

/// Messages as data.
pub(crate) fn all(diagnostics: &Diagnostics) -> Vec<Finding> {
    diagnostics.messages().iter().map(finding).collect()
}

fn finding(diagnostic: &Diagnostic) -> Finding {
    let source = &diagnostic.place.source;
    let span = diagnostic.place.span;
    let location = match source.name() {
        // As the library calls texts.
        "domain" => "DOMAIN".to_owned(),
        "problem" => "PROBLEM:0".to_owned(),
        name => name.to_owned(),
    };
    let mut message = diagnostic.message.clone();
    if !diagnostic.label.is_empty() {
        message.push_str(": ");
        message.push_str(&diagnostic.label);
    }
    for (place, note) in &diagnostic.notes {
        let (line, _) = place.source.line_column(place.span.start);
        message.push_str(&format!("; line {line}: {note}"));
    }
    Finding {
        location,
        severity: match diagnostic.severity {
            Severity::Warning => "warning",
            Severity::Unsupported | Severity::Error => "error",
        }
        .to_owned(),
        message,
        help: diagnostic.help.clone(),
        from: source.line_column(span.start),
        to: source.line_column(span.end.max(span.start)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOMAIN: &str = "(define (domain d)\n  (:predicates (p ?x) (q))\n  (:action a :parameters (?x) :precondition (p ?x) :effect (q)))\n";

    #[test]
    fn a_misspelt_name_has_its_place_and_a_hint() {
        let domain = DOMAIN.replace(":precondition (p ?x)", ":precondition (pp ?x)");
        let findings = check(&domain, &[]);
        let [finding] = findings.as_slice() else {
            panic!("{findings:?}");
        };
        assert_eq!(finding.location, "DOMAIN");
        assert_eq!(finding.severity, "error");
        assert_eq!((finding.from, finding.to), ((3, 46), (3, 48)));
        assert!(finding.sentence().contains("domain, line 3, column 46: "));
    }

    #[test]
    fn each_problem_has_its_own_and_the_domain_is_told_once() {
        let good = "(define (problem x) (:domain d) (:objects o) (:init (p o)) (:goal (q)))";
        let bad = good.replace("(:goal (q))", "(:goal (r))");
        assert_eq!(check(DOMAIN, &[good.to_owned()]), []);
        let findings = check(DOMAIN, &[good.to_owned(), bad]);
        let [finding] = findings.as_slice() else {
            panic!("{findings:?}");
        };
        assert_eq!(finding.location, "PROBLEM:1");
        assert_eq!(
            check("(", &[good.to_owned()])
                .iter()
                .filter(|f| f.location != "DOMAIN")
                .count(),
            0
        );
    }
}

; Blocks: what is free follows from what lies on what.
(define (domain towers)
  (:requirements :negative-preconditions :universal-preconditions :derived-predicates)
  (:predicates
    (on ?x ?y) (on-table ?x) (held ?x)
    (free ?x) (hand-free))
  (:derived (free ?x)
    (and (not (held ?x)) (forall (?y) (not (on ?y ?x)))))
  (:derived (hand-free)
    (forall (?x) (not (held ?x))))
  (:action lift
    :parameters (?x)
    :precondition (and (on-table ?x) (free ?x) (hand-free))
    :effect (and (held ?x) (not (on-table ?x))))
  (:action lay
    :parameters (?x)
    :precondition (held ?x)
    :effect (and (on-table ?x) (not (held ?x))))
  (:action stack
    :parameters (?x ?y)
    :precondition (and (held ?x) (free ?y))
    :effect (and (on ?x ?y) (not (held ?x))))
  (:action unstack
    :parameters (?x ?y)
    :precondition (and (on ?x ?y) (free ?x) (hand-free))
    :effect (and (held ?x) (not (on ?x ?y)))))

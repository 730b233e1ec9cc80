; Genome edit distance (2014): pieces of a ring of genes are cut out and put back,
; possibly turned round.
(define (domain genome-edit-distance)
  (:requirements :strips :negative-preconditions :equality :action-costs)

  (:predicates
    (cw ?x ?y)
    (normal ?x)
    (inverted ?x)
    (in-cut ?x)
    (idle)
    (cutting)
    (have-cut)
    (splicing)
    (inverse-splicing)
    (cut-before ?x)
    (cut-last ?x)
    (s-first ?x)
    (s-last ?x)
    (last-spliced ?x)
    (splice-to ?x))

  (:functions (total-cost) - number)

  (:action begin-cut
    :parameters (?x ?y)
    :precondition (and (idle) (cw ?x ?y) (not (= ?x ?y)))
    :effect (and (not (idle)) (cutting) (not (cw ?x ?y)) (cut-before ?x) (s-first ?y) (cut-last ?y)
                 (in-cut ?y) (increase (total-cost) 0)))

  (:action continue-cut
    :parameters (?x ?y ?p)
    :precondition (and (cutting) (cut-last ?x) (cw ?x ?y) (cut-before ?p) (not (= ?p ?y)))
    :effect (and (not (cut-last ?x)) (cut-last ?y) (in-cut ?y) (increase (total-cost) 0)))

  (:action end-cut
    :parameters (?p ?x ?n)
    :precondition (and (cutting) (cut-last ?x) (cw ?x ?n) (cut-before ?p))
    :effect (and (not (cutting)) (have-cut) (not (cut-last ?x)) (s-last ?x) (not (cut-before ?p))
                 (not (cw ?x ?n)) (cw ?p ?n) (increase (total-cost) 0)))

  (:action begin-transpose-splice
    :parameters (?a ?b ?y)
    :precondition (and (have-cut) (cw ?a ?b) (not (in-cut ?a)) (s-first ?y))
    :effect (and (not (have-cut)) (splicing) (not (cw ?a ?b)) (cw ?a ?y) (not (s-first ?y))
                 (not (in-cut ?y)) (last-spliced ?y) (splice-to ?b) (increase (total-cost) 1)))

  (:action continue-splice
    :parameters (?x ?y)
    :precondition (and (splicing) (last-spliced ?x) (cw ?x ?y) (in-cut ?y))
    :effect (and (not (last-spliced ?x)) (last-spliced ?y) (not (in-cut ?y))
                 (increase (total-cost) 0)))

  (:action end-splice
    :parameters (?x ?b)
    :precondition (and (splicing) (last-spliced ?x) (s-last ?x) (splice-to ?b))
    :effect (and (not (splicing)) (idle) (not (last-spliced ?x)) (not (s-last ?x))
                 (not (splice-to ?b)) (cw ?x ?b) (increase (total-cost) 0)))

  (:action begin-inverse-splice-normal
    :parameters (?a ?b ?y)
    :precondition (and (have-cut) (cw ?a ?b) (not (in-cut ?a)) (s-last ?y) (normal ?y))
    :effect (and (not (have-cut)) (inverse-splicing) (not (cw ?a ?b)) (cw ?a ?y) (not (s-last ?y))
                 (not (in-cut ?y)) (last-spliced ?y) (splice-to ?b) (increase (total-cost) 2)
                 (not (normal ?y)) (inverted ?y)))

  (:action begin-inverse-splice-inverted
    :parameters (?a ?b ?y)
    :precondition (and (have-cut) (cw ?a ?b) (not (in-cut ?a)) (s-last ?y) (inverted ?y))
    :effect (and (not (have-cut)) (inverse-splicing) (not (cw ?a ?b)) (cw ?a ?y) (not (s-last ?y))
                 (not (in-cut ?y)) (last-spliced ?y) (splice-to ?b) (increase (total-cost) 2)
                 (not (inverted ?y)) (normal ?y)))

  (:action continue-inverse-splice-normal
    :parameters (?x ?y)
    :precondition (and (inverse-splicing) (last-spliced ?x) (cw ?y ?x) (in-cut ?y) (normal ?y))
    :effect (and (not (cw ?y ?x)) (cw ?x ?y) (not (last-spliced ?x)) (last-spliced ?y)
                 (not (in-cut ?y)) (increase (total-cost) 0) (not (normal ?y)) (inverted ?y)))

  (:action continue-inverse-splice-inverted
    :parameters (?x ?y)
    :precondition (and (inverse-splicing) (last-spliced ?x) (cw ?y ?x) (in-cut ?y) (inverted ?y))
    :effect (and (not (cw ?y ?x)) (cw ?x ?y) (not (last-spliced ?x)) (last-spliced ?y)
                 (not (in-cut ?y)) (increase (total-cost) 0) (not (inverted ?y)) (normal ?y)))

  (:action end-inverse-splice
    :parameters (?x ?b)
    :precondition (and (inverse-splicing) (last-spliced ?x) (s-first ?x) (splice-to ?b))
    :effect (and (not (inverse-splicing)) (idle) (not (last-spliced ?x)) (not (s-first ?x))
                 (not (splice-to ?b)) (cw ?x ?b) (increase (total-cost) 0))))

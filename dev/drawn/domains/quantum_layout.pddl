; Quantum layout (2023): logical qubits mapped to physical ones and swapped until each gate
; can be applied between neighbours.
(define (domain quantum-layout)
  (:requirements :strips :typing :negative-preconditions :action-costs)
  (:types pqubit lqubit gate - object)

  (:predicates
    (connected ?p1 - pqubit ?p2 - pqubit)
    (cnot ?g - gate ?l1 - lqubit ?l2 - lqubit)
    (follows ?l - lqubit ?g - gate ?h - gate)
    (occupied ?p - pqubit)
    (initialized ?l - lqubit)
    (mapped ?l - lqubit ?p - pqubit)
    (current ?l - lqubit ?g - gate)
    (done ?g - gate))

  (:functions (total-cost) - number)

  (:action map_initial
    :parameters (?l - lqubit ?p - pqubit)
    :precondition (and (not (occupied ?p)) (not (initialized ?l)))
    :effect (and (initialized ?l) (occupied ?p) (mapped ?l ?p) (increase (total-cost) 0)))

  (:action apply_cnot
    :parameters (?g - gate ?l1 - lqubit ?l2 - lqubit ?p1 - pqubit ?p2 - pqubit ?h1 - gate
                 ?h2 - gate)
    :precondition (and (cnot ?g ?l1 ?l2) (follows ?l1 ?g ?h1) (follows ?l2 ?g ?h2) (current ?l1 ?g)
                       (current ?l2 ?g) (mapped ?l1 ?p1) (mapped ?l2 ?p2) (connected ?p1 ?p2))
    :effect (and (done ?g) (not (current ?l1 ?g)) (current ?l1 ?h1) (not (current ?l2 ?g))
                 (current ?l2 ?h2) (increase (total-cost) 0)))

  (:action swap
    :parameters (?l1 - lqubit ?l2 - lqubit ?p1 - pqubit ?p2 - pqubit)
    :precondition (and (connected ?p1 ?p2) (mapped ?l1 ?p1) (mapped ?l2 ?p2))
    :effect (and (not (mapped ?l1 ?p1)) (not (mapped ?l2 ?p2)) (mapped ?l1 ?p2) (mapped ?l2 ?p1)
                 (increase (total-cost) 3)))

  (:action swap_ancillary
    :parameters (?l1 - lqubit ?p1 - pqubit ?p2 - pqubit)
    :precondition (and (connected ?p1 ?p2) (mapped ?l1 ?p1) (not (occupied ?p2)))
    :effect (and (not (mapped ?l1 ?p1)) (mapped ?l1 ?p2) (not (occupied ?p1)) (occupied ?p2)
                 (increase (total-cost) 3))))

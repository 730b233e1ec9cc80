; What lies in the briefcase goes where it goes.
(define (domain briefcase)
  (:requirements :typing :negative-preconditions :conditional-effects)
  (:types thing place)
  (:predicates
    (at ?t - thing ?p - place)
    (inside ?t - thing)
    (briefcase-at ?p - place))
  (:action carry
    :parameters (?from ?to - place)
    :precondition (briefcase-at ?from)
    :effect (and
      (not (briefcase-at ?from)) (briefcase-at ?to)
      (forall (?t - thing)
        (when (inside ?t) (and (not (at ?t ?from)) (at ?t ?to))))))
  (:action put-in
    :parameters (?t - thing ?p - place)
    :precondition (and (at ?t ?p) (briefcase-at ?p) (not (inside ?t)))
    :effect (inside ?t))
  (:action take-out
    :parameters (?t - thing)
    :precondition (inside ?t)
    :effect (not (inside ?t))))

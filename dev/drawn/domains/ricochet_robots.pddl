; Ricochet robots (2023): a robot that goes does not stop before something is in its way.
(define (domain ricochet-robots)
  (:requirements :typing :negative-preconditions :action-costs)
  (:types robot cell direction - object)

  (:predicates
    (next ?c - cell ?cn - cell ?d - direction)
    (blocked ?c - cell ?d - direction)
    (at ?r - robot ?c - cell)
    (free ?c - cell)
    (moving ?r - robot ?d - direction)
    (nothing-is-moving))

  (:functions (total-cost) - number (go-cost) - number (step-cost) - number (stop-cost) - number)

  (:action go
    :parameters (?r - robot ?d - direction)
    :precondition (nothing-is-moving)
    :effect (and (not (nothing-is-moving)) (moving ?r ?d) (increase (total-cost) (go-cost))))

  (:action step
    :parameters (?r - robot ?cfrom - cell ?cto - cell ?d - direction)
    :precondition (and (moving ?r ?d) (at ?r ?cfrom) (next ?cfrom ?cto ?d) (free ?cto))
    :effect (and (not (at ?r ?cfrom)) (free ?cfrom) (at ?r ?cto) (not (free ?cto))
                 (increase (total-cost) (step-cost))))

  (:action stop-at-barrier
    :parameters (?r - robot ?cat - cell ?d - direction)
    :precondition (and (moving ?r ?d) (at ?r ?cat) (blocked ?cat ?d))
    :effect (and (not (moving ?r ?d)) (nothing-is-moving) (increase (total-cost) (stop-cost))))

  (:action stop-at-robot
    :parameters (?r - robot ?cat - cell ?cnext - cell ?d - direction)
    :precondition (and (moving ?r ?d) (at ?r ?cat) (next ?cat ?cnext ?d) (not (free ?cnext)))
    :effect (and (not (moving ?r ?d)) (nothing-is-moving) (increase (total-cost) (stop-cost)))))

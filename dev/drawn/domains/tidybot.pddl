; Tidybot (2011, 2014): a robot with an arm tidies objects on tables.
(define (domain tidybot)
  (:requirements :strips :typing :negative-preconditions :action-costs)
  (:types robot object_ xc yc xrel yrel)

  (:predicates
    (leftof ?x1 - xc ?x2 - xc)
    (above ?y1 - yc ?y2 - yc)
    (leftof-rel ?x1 - xrel ?x2 - xrel)
    (above-rel ?y1 - yrel ?y2 - yrel)
    (sum-x ?x - xc ?xr - xrel ?xs - xc)
    (sum-y ?y - yc ?yr - yrel ?ys - yc)
    (zerox-rel ?x - xrel)
    (zeroy-rel ?y - yrel)
    (object-goal ?o - object_ ?x - xc ?y - yc)
    (parked ?r - robot)
    (not-parked ?r - robot)
    (base-pos ?r - robot ?x - xc ?y - yc)
    (gripper-rel ?r - robot ?x - xrel ?y - yrel)
    (gripper-empty ?r - robot)
    (holding ?r - robot ?o - object_)
    (base-obstacle ?x - xc ?y - yc)
    (gripper-obstacle ?x - xc ?y - yc)
    (object-pos ?o - object_ ?x - xc ?y - yc)
    (object-done ?o - object_))

  (:functions (total-cost) - number)

  (:action park
    :parameters (?r - robot)
    :precondition (and (not-parked ?r))
    :effect (and (not (not-parked ?r)) (parked ?r) (increase (total-cost) 1)))

  (:action unpark
    :parameters (?r - robot ?x - xrel ?y - yrel)
    :precondition (and (parked ?r) (gripper-rel ?r ?x ?y) (zerox-rel ?x) (zeroy-rel ?y))
    :effect (and (not (parked ?r)) (not-parked ?r) (increase (total-cost) 1)))

  (:action finish-object
    :parameters (?o - object_ ?x - xc ?y - yc)
    :precondition (and (object-pos ?o ?x ?y) (object-goal ?o ?x ?y))
    :effect (and (object-done ?o) (increase (total-cost) 1)))

  (:action base-left
    :parameters (?r - robot ?x - xc ?y - yc ?n - xc)
    :precondition (and (not-parked ?r) (base-pos ?r ?x ?y) (leftof ?n ?x)
                       (not (base-obstacle ?n ?y)))
    :effect (and (not (base-pos ?r ?x ?y)) (base-pos ?r ?n ?y) (not (base-obstacle ?x ?y))
                 (base-obstacle ?n ?y) (increase (total-cost) 1)))

  (:action gripper-left
    :parameters (?r - robot ?x - xc ?y - yc ?rx - xrel ?ry - yrel ?nrx - xrel ?gx - xc ?gy - yc)
    :precondition (and (parked ?r) (base-pos ?r ?x ?y) (gripper-rel ?r ?rx ?ry)
                       (leftof-rel ?nrx ?rx) (sum-x ?x ?nrx ?gx) (sum-y ?y ?ry ?gy)
                       (not (gripper-obstacle ?gx ?gy)))
    :effect (and (not (gripper-rel ?r ?rx ?ry)) (gripper-rel ?r ?nrx ?ry)
                 (increase (total-cost) 1)))

  (:action get-left
    :parameters (?r - robot ?x - xc ?y - yc ?rx - xrel ?ry - yrel ?gx - xc ?gy - yc ?o - object_
                 ?n - xc)
    :precondition (and (parked ?r) (base-pos ?r ?x ?y) (gripper-rel ?r ?rx ?ry) (sum-x ?x ?rx ?gx)
                       (sum-y ?y ?ry ?gy) (leftof ?n ?gx) (gripper-empty ?r) (object-pos ?o ?n ?gy))
    :effect (and (not (gripper-empty ?r)) (holding ?r ?o) (not (object-pos ?o ?n ?gy))
                 (not (gripper-obstacle ?n ?gy)) (increase (total-cost) 1)))

  (:action put-left
    :parameters (?r - robot ?x - xc ?y - yc ?rx - xrel ?ry - yrel ?gx - xc ?gy - yc ?o - object_
                 ?n - xc)
    :precondition (and (parked ?r) (base-pos ?r ?x ?y) (gripper-rel ?r ?rx ?ry) (sum-x ?x ?rx ?gx)
                       (sum-y ?y ?ry ?gy) (leftof ?n ?gx) (holding ?r ?o)
                       (not (gripper-obstacle ?n ?gy)))
    :effect (and (not (holding ?r ?o)) (gripper-empty ?r) (object-pos ?o ?n ?gy)
                 (gripper-obstacle ?n ?gy) (increase (total-cost) 1)))

  (:action base-right
    :parameters (?r - robot ?x - xc ?y - yc ?n - xc)
    :precondition (and (not-parked ?r) (base-pos ?r ?x ?y) (leftof ?x ?n)
                       (not (base-obstacle ?n ?y)))
    :effect (and (not (base-pos ?r ?x ?y)) (base-pos ?r ?n ?y) (not (base-obstacle ?x ?y))
                 (base-obstacle ?n ?y) (increase (total-cost) 1)))

  (:action gripper-right
    :parameters (?r - robot ?x - xc ?y - yc ?rx - xrel ?ry - yrel ?nrx - xrel ?gx - xc ?gy - yc)
    :precondition (and (parked ?r) (base-pos ?r ?x ?y) (gripper-rel ?r ?rx ?ry)
                       (leftof-rel ?rx ?nrx) (sum-x ?x ?nrx ?gx) (sum-y ?y ?ry ?gy)
                       (not (gripper-obstacle ?gx ?gy)))
    :effect (and (not (gripper-rel ?r ?rx ?ry)) (gripper-rel ?r ?nrx ?ry)
                 (increase (total-cost) 1)))

  (:action get-right
    :parameters (?r - robot ?x - xc ?y - yc ?rx - xrel ?ry - yrel ?gx - xc ?gy - yc ?o - object_
                 ?n - xc)
    :precondition (and (parked ?r) (base-pos ?r ?x ?y) (gripper-rel ?r ?rx ?ry) (sum-x ?x ?rx ?gx)
                       (sum-y ?y ?ry ?gy) (leftof ?gx ?n) (gripper-empty ?r) (object-pos ?o ?n ?gy))
    :effect (and (not (gripper-empty ?r)) (holding ?r ?o) (not (object-pos ?o ?n ?gy))
                 (not (gripper-obstacle ?n ?gy)) (increase (total-cost) 1)))

  (:action put-right
    :parameters (?r - robot ?x - xc ?y - yc ?rx - xrel ?ry - yrel ?gx - xc ?gy - yc ?o - object_
                 ?n - xc)
    :precondition (and (parked ?r) (base-pos ?r ?x ?y) (gripper-rel ?r ?rx ?ry) (sum-x ?x ?rx ?gx)
                       (sum-y ?y ?ry ?gy) (leftof ?gx ?n) (holding ?r ?o)
                       (not (gripper-obstacle ?n ?gy)))
    :effect (and (not (holding ?r ?o)) (gripper-empty ?r) (object-pos ?o ?n ?gy)
                 (gripper-obstacle ?n ?gy) (increase (total-cost) 1)))

  (:action base-up
    :parameters (?r - robot ?x - xc ?y - yc ?n - yc)
    :precondition (and (not-parked ?r) (base-pos ?r ?x ?y) (above ?n ?y)
                       (not (base-obstacle ?x ?n)))
    :effect (and (not (base-pos ?r ?x ?y)) (base-pos ?r ?x ?n) (not (base-obstacle ?x ?y))
                 (base-obstacle ?x ?n) (increase (total-cost) 1)))

  (:action gripper-up
    :parameters (?r - robot ?x - xc ?y - yc ?rx - xrel ?ry - yrel ?nry - yrel ?gx - xc ?gy - yc)
    :precondition (and (parked ?r) (base-pos ?r ?x ?y) (gripper-rel ?r ?rx ?ry) (above-rel ?nry ?ry)
                       (sum-x ?x ?rx ?gx) (sum-y ?y ?nry ?gy) (not (gripper-obstacle ?gx ?gy)))
    :effect (and (not (gripper-rel ?r ?rx ?ry)) (gripper-rel ?r ?rx ?nry)
                 (increase (total-cost) 1)))

  (:action get-up
    :parameters (?r - robot ?x - xc ?y - yc ?rx - xrel ?ry - yrel ?gx - xc ?gy - yc ?o - object_
                 ?n - yc)
    :precondition (and (parked ?r) (base-pos ?r ?x ?y) (gripper-rel ?r ?rx ?ry) (sum-x ?x ?rx ?gx)
                       (sum-y ?y ?ry ?gy) (above ?n ?gy) (gripper-empty ?r) (object-pos ?o ?gx ?n))
    :effect (and (not (gripper-empty ?r)) (holding ?r ?o) (not (object-pos ?o ?gx ?n))
                 (not (gripper-obstacle ?gx ?n)) (increase (total-cost) 1)))

  (:action put-up
    :parameters (?r - robot ?x - xc ?y - yc ?rx - xrel ?ry - yrel ?gx - xc ?gy - yc ?o - object_
                 ?n - yc)
    :precondition (and (parked ?r) (base-pos ?r ?x ?y) (gripper-rel ?r ?rx ?ry) (sum-x ?x ?rx ?gx)
                       (sum-y ?y ?ry ?gy) (above ?n ?gy) (holding ?r ?o)
                       (not (gripper-obstacle ?gx ?n)))
    :effect (and (not (holding ?r ?o)) (gripper-empty ?r) (object-pos ?o ?gx ?n)
                 (gripper-obstacle ?gx ?n) (increase (total-cost) 1)))

  (:action base-down
    :parameters (?r - robot ?x - xc ?y - yc ?n - yc)
    :precondition (and (not-parked ?r) (base-pos ?r ?x ?y) (above ?y ?n)
                       (not (base-obstacle ?x ?n)))
    :effect (and (not (base-pos ?r ?x ?y)) (base-pos ?r ?x ?n) (not (base-obstacle ?x ?y))
                 (base-obstacle ?x ?n) (increase (total-cost) 1)))

  (:action gripper-down
    :parameters (?r - robot ?x - xc ?y - yc ?rx - xrel ?ry - yrel ?nry - yrel ?gx - xc ?gy - yc)
    :precondition (and (parked ?r) (base-pos ?r ?x ?y) (gripper-rel ?r ?rx ?ry) (above-rel ?ry ?nry)
                       (sum-x ?x ?rx ?gx) (sum-y ?y ?nry ?gy) (not (gripper-obstacle ?gx ?gy)))
    :effect (and (not (gripper-rel ?r ?rx ?ry)) (gripper-rel ?r ?rx ?nry)
                 (increase (total-cost) 1)))

  (:action get-down
    :parameters (?r - robot ?x - xc ?y - yc ?rx - xrel ?ry - yrel ?gx - xc ?gy - yc ?o - object_
                 ?n - yc)
    :precondition (and (parked ?r) (base-pos ?r ?x ?y) (gripper-rel ?r ?rx ?ry) (sum-x ?x ?rx ?gx)
                       (sum-y ?y ?ry ?gy) (above ?gy ?n) (gripper-empty ?r) (object-pos ?o ?gx ?n))
    :effect (and (not (gripper-empty ?r)) (holding ?r ?o) (not (object-pos ?o ?gx ?n))
                 (not (gripper-obstacle ?gx ?n)) (increase (total-cost) 1)))

  (:action put-down
    :parameters (?r - robot ?x - xc ?y - yc ?rx - xrel ?ry - yrel ?gx - xc ?gy - yc ?o - object_
                 ?n - yc)
    :precondition (and (parked ?r) (base-pos ?r ?x ?y) (gripper-rel ?r ?rx ?ry) (sum-x ?x ?rx ?gx)
                       (sum-y ?y ?ry ?gy) (above ?gy ?n) (holding ?r ?o)
                       (not (gripper-obstacle ?gx ?n)))
    :effect (and (not (holding ?r ?o)) (gripper-empty ?r) (object-pos ?o ?gx ?n)
                 (gripper-obstacle ?gx ?n) (increase (total-cost) 1))))

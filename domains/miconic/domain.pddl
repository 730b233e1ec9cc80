; A lift takes passengers from the floor they wait on to the floor they want.
(define (domain miconic)
  (:requirements :strips :typing)
  (:types passenger floor - object)
  (:predicates
    (origin ?who - passenger ?where - floor)
    (destin ?who - passenger ?where - floor)
    (above ?lower - floor ?upper - floor)    ; the second is above the first
    (boarded ?who - passenger)
    (not-boarded ?who - passenger)           ; no action uses this
    (served ?who - passenger)
    (not-served ?who - passenger)            ; nor this
    (lift-at ?where - floor))

  (:action board
    :parameters (?where - floor ?who - passenger)
    :precondition (and (origin ?who ?where) (lift-at ?where))
    :effect (and (boarded ?who)))

  (:action depart
    :parameters (?where - floor ?who - passenger)
    :precondition (and (destin ?who ?where) (lift-at ?where) (boarded ?who))
    :effect (and (served ?who) (not (boarded ?who))))

  (:action up
    :parameters (?here - floor ?there - floor)
    :precondition (and (above ?here ?there) (lift-at ?here))
    :effect (and (lift-at ?there) (not (lift-at ?here))))

  (:action down
    :parameters (?here - floor ?there - floor)
    :precondition (and (above ?there ?here) (lift-at ?here))
    :effect (and (lift-at ?there) (not (lift-at ?here)))))

; A robot on a grid with holes must visit given cells.
(define (domain grid-visit-all)
  (:requirements :strips :typing)
  (:types place - object)
  (:predicates
    (connected ?here - place ?there - place)
    (at-robot ?here - place)
    (visited ?here - place))

  (:action move
    :parameters (?here - place ?there - place)
    :precondition (and (connected ?here ?there) (at-robot ?here))
    :effect (and
      (at-robot ?there) (visited ?there)
      (not (at-robot ?here)))))

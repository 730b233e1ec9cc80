; Sliding tiles: the 8-puzzle, the 15-puzzle and so on.
(define (domain sliding-tiles)
  (:requirements :strips :typing)
  (:types tile position)

  (:predicates
    (at ?t - tile ?p - position)
    (empty ?p - position)
    (neighbor ?p - position ?q - position))

  (:action move
    :parameters (?t - tile ?from - position ?to - position)
    :precondition (and (at ?t ?from) (empty ?to) (neighbor ?from ?to))
    :effect (and (not (at ?t ?from)) (not (empty ?to)) (at ?t ?to) (empty ?from))))

; Boxes stand in the lanes of a warehouse, one behind the other. A robot takes the first box of a lane,
; puts a box it holds in front of a lane, or packs it. The ordered boxes are packed one after the other,
; in the order of a list.
(define (domain warehouse)
  (:requirements :strips :typing)
  (:types box lane)
  (:predicates
    (in ?b - box ?l - lane)       ; the box is in the lane
    (first ?b - box)              ; no box is in front of it
    (behind ?b ?f - box)          ; b is directly behind f
    (last ?b - box)               ; no box is behind it
    (empty ?l - lane)             ; no box is in the lane
    (free)                        ; the robot holds nothing
    (holding ?b - box)
    (next ?b ?n - box)            ; n follows b on the list
    (turn ?b - box)               ; b is to be packed now
    (packed ?b - box))

  (:action take
    :parameters (?b ?next - box ?l - lane)
    :precondition (and (free) (in ?b ?l) (first ?b) (behind ?next ?b))
    :effect (and (holding ?b) (first ?next)
                 (not (free)) (not (in ?b ?l)) (not (first ?b)) (not (behind ?next ?b))))

  (:action take-last
    :parameters (?b - box ?l - lane)
    :precondition (and (free) (in ?b ?l) (first ?b) (last ?b))
    :effect (and (holding ?b) (empty ?l)
                 (not (free)) (not (in ?b ?l)) (not (first ?b)) (not (last ?b))))

  (:action put
    :parameters (?b ?f - box ?l - lane)
    :precondition (and (holding ?b) (in ?f ?l) (first ?f))
    :effect (and (free) (in ?b ?l) (first ?b) (behind ?f ?b)
                 (not (holding ?b)) (not (first ?f))))

  (:action put-into-empty
    :parameters (?b - box ?l - lane)
    :precondition (and (holding ?b) (empty ?l))
    :effect (and (free) (in ?b ?l) (first ?b) (last ?b)
                 (not (holding ?b)) (not (empty ?l))))

  (:action pack
    :parameters (?b ?n - box)
    :precondition (and (holding ?b) (turn ?b) (next ?b ?n))
    :effect (and (free) (packed ?b) (turn ?n)
                 (not (holding ?b)) (not (turn ?b)))))

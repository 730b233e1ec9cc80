; Matching blocks world (2008, learning): on a block that a hand of the other sign has put
; down nothing can be stacked any more.
(define (domain matching-bw-typed)
  (:requirements :typing)
  (:types block hand)

  (:predicates
    (empty ?h - hand)
    (holding ?h - hand ?b - block)
    (on-table ?b - block)
    (on ?b1 ?b2 - block)
    (clear ?b - block)
    (solid ?b - block)
    (hand-positive ?h - hand)
    (hand-negative ?h - hand)
    (block-positive ?b - block)
    (block-negative ?b - block))

  (:action pickup
    :parameters (?h - hand ?b - block)
    :precondition (and (empty ?h) (clear ?b) (on-table ?b))
    :effect (and (holding ?h ?b) (not (empty ?h)) (not (clear ?b)) (not (on-table ?b))))

  (:action unstack
    :parameters (?h - hand ?b1 ?b2 - block)
    :precondition (and (empty ?h) (on ?b1 ?b2) (clear ?b1))
    :effect (and (holding ?h ?b1) (clear ?b2) (not (empty ?h)) (not (clear ?b1))
                 (not (on ?b1 ?b2))))

  (:action putdown-pos-pos
    :parameters (?h - hand ?b - block)
    :precondition (and (holding ?h ?b) (hand-positive ?h) (block-positive ?b))
    :effect (and (empty ?h) (on-table ?b) (clear ?b) (not (holding ?h ?b))))

  (:action stack-pos-pos
    :parameters (?h - hand ?b ?c - block)
    :precondition (and (holding ?h ?b) (hand-positive ?h) (block-positive ?b) (clear ?c) (solid ?c))
    :effect (and (empty ?h) (clear ?b) (on ?b ?c) (not (clear ?c)) (not (holding ?h ?b))))

  (:action putdown-pos-neg
    :parameters (?h - hand ?b - block)
    :precondition (and (holding ?h ?b) (hand-positive ?h) (block-negative ?b))
    :effect (and (empty ?h) (on-table ?b) (clear ?b) (not (holding ?h ?b)) (not (solid ?b))))

  (:action stack-pos-neg
    :parameters (?h - hand ?b ?c - block)
    :precondition (and (holding ?h ?b) (hand-positive ?h) (block-negative ?b) (clear ?c) (solid ?c))
    :effect (and (empty ?h) (clear ?b) (on ?b ?c) (not (clear ?c)) (not (holding ?h ?b))
                 (not (solid ?b))))

  (:action putdown-neg-pos
    :parameters (?h - hand ?b - block)
    :precondition (and (holding ?h ?b) (hand-negative ?h) (block-positive ?b))
    :effect (and (empty ?h) (on-table ?b) (clear ?b) (not (holding ?h ?b)) (not (solid ?b))))

  (:action stack-neg-pos
    :parameters (?h - hand ?b ?c - block)
    :precondition (and (holding ?h ?b) (hand-negative ?h) (block-positive ?b) (clear ?c) (solid ?c))
    :effect (and (empty ?h) (clear ?b) (on ?b ?c) (not (clear ?c)) (not (holding ?h ?b))
                 (not (solid ?b))))

  (:action putdown-neg-neg
    :parameters (?h - hand ?b - block)
    :precondition (and (holding ?h ?b) (hand-negative ?h) (block-negative ?b))
    :effect (and (empty ?h) (on-table ?b) (clear ?b) (not (holding ?h ?b))))

  (:action stack-neg-neg
    :parameters (?h - hand ?b ?c - block)
    :precondition (and (holding ?h ?b) (hand-negative ?h) (block-negative ?b) (clear ?c) (solid ?c))
    :effect (and (empty ?h) (clear ?b) (on ?b ?c) (not (clear ?c)) (not (holding ?h ?b)))))

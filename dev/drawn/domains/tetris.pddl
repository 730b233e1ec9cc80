; Tetris (2014): pieces slide about until the upper half of the screen is clear.
(define (domain tetris)
  (:requirements :strips :typing :negative-preconditions :equality :action-costs)
  (:types pieces position - object one_square two_straight right_l - pieces)

  (:predicates
    (connected ?x - position ?y - position)
    (above ?x - position ?y - position)
    (right_of ?x - position ?y - position)
    (clear ?xy - position)
    (at_square ?element - one_square ?xy - position)
    (at_two ?element - two_straight ?xy - position ?xy2 - position)
    (at_right_l ?element - right_l ?xy - position ?xy2 - position ?xy3 - position))

  (:functions (total-cost) - number)

  (:action move_square
    :parameters (?xy_initial - position ?xy_final - position ?element - one_square)
    :precondition (and (clear ?xy_final) (at_square ?element ?xy_initial)
                       (connected ?xy_initial ?xy_final))
    :effect (and (clear ?xy_initial) (at_square ?element ?xy_final) (not (clear ?xy_final))
                 (not (at_square ?element ?xy_initial)) (increase (total-cost) 1)))

  (:action move_two
    :parameters (?xy_initial1 - position ?xy_initial2 - position ?xy_final - position
                 ?element - two_straight)
    :precondition (and (clear ?xy_final) (at_two ?element ?xy_initial1 ?xy_initial2)
                       (connected ?xy_initial2 ?xy_final))
    :effect (and (clear ?xy_initial1) (at_two ?element ?xy_initial2 ?xy_final)
                 (not (clear ?xy_final)) (not (at_two ?element ?xy_initial1 ?xy_initial2))
                 (increase (total-cost) 2)))

  (:action move_two_back
    :parameters (?xy_initial1 - position ?xy_initial2 - position ?xy_final - position
                 ?element - two_straight)
    :precondition (and (clear ?xy_final) (at_two ?element ?xy_initial1 ?xy_initial2)
                       (connected ?xy_initial1 ?xy_final))
    :effect (and (clear ?xy_initial2) (at_two ?element ?xy_final ?xy_initial1)
                 (not (clear ?xy_final)) (not (at_two ?element ?xy_initial1 ?xy_initial2))
                 (increase (total-cost) 2)))

  ; The l: ?a is above ?b, and ?c is right of ?b.
  (:action move_l_up
    :parameters (?a - position ?b - position ?c - position ?na - position ?nc - position
                 ?element - right_l)
    :precondition (and (at_right_l ?element ?a ?b ?c) (above ?na ?a) (above ?nc ?c) (clear ?na)
                       (clear ?nc))
    :effect (and (not (at_right_l ?element ?a ?b ?c)) (at_right_l ?element ?na ?a ?nc)
                 (not (clear ?na)) (not (clear ?nc)) (clear ?b) (clear ?c)
                 (increase (total-cost) 3)))

  (:action move_l_down
    :parameters (?a - position ?b - position ?c - position ?nb - position ?nc - position
                 ?element - right_l)
    :precondition (and (at_right_l ?element ?a ?b ?c) (above ?b ?nb) (above ?c ?nc) (clear ?nb)
                       (clear ?nc))
    :effect (and (not (at_right_l ?element ?a ?b ?c)) (at_right_l ?element ?b ?nb ?nc)
                 (not (clear ?nb)) (not (clear ?nc)) (clear ?a) (clear ?c)
                 (increase (total-cost) 3)))

  (:action move_l_right
    :parameters (?a - position ?b - position ?c - position ?na - position ?nc - position
                 ?element - right_l)
    :precondition (and (at_right_l ?element ?a ?b ?c) (right_of ?na ?a) (right_of ?nc ?c)
                       (clear ?na) (clear ?nc))
    :effect (and (not (at_right_l ?element ?a ?b ?c)) (at_right_l ?element ?na ?c ?nc)
                 (not (clear ?na)) (not (clear ?nc)) (clear ?a) (clear ?b)
                 (increase (total-cost) 3)))

  (:action move_l_left
    :parameters (?a - position ?b - position ?c - position ?na - position ?nb - position
                 ?element - right_l)
    :precondition (and (at_right_l ?element ?a ?b ?c) (right_of ?a ?na) (right_of ?b ?nb)
                       (clear ?na) (clear ?nb))
    :effect (and (not (at_right_l ?element ?a ?b ?c)) (at_right_l ?element ?na ?nb ?b)
                 (not (clear ?na)) (not (clear ?nb)) (clear ?a) (clear ?c)
                 (increase (total-cost) 3))))

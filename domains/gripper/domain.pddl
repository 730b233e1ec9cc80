; A robot with two grippers carries balls between two rooms.
(define (domain gripper-strips)
  (:requirements :strips)
  (:predicates
    (room ?room)
    (ball ?ball)
    (gripper ?gripper)
    (at-robby ?room)
    (at ?ball ?room)
    (free ?gripper)
    (carry ?ball ?gripper))

  (:action move
    :parameters (?here ?there)
    :precondition (and (room ?here) (room ?there) (at-robby ?here))
    :effect (and (at-robby ?there) (not (at-robby ?here))))

  (:action pick
    :parameters (?ball ?room ?gripper)
    :precondition (and
      (ball ?ball) (room ?room) (gripper ?gripper)
      (at ?ball ?room) (at-robby ?room) (free ?gripper))
    :effect (and
      (carry ?ball ?gripper)
      (not (at ?ball ?room)) (not (free ?gripper))))

  (:action drop
    :parameters (?ball ?room ?gripper)
    :precondition (and
      (ball ?ball) (room ?room) (gripper ?gripper)
      (carry ?ball ?gripper) (at-robby ?room))
    :effect (and
      (at ?ball ?room) (free ?gripper)
      (not (carry ?ball ?gripper)))))

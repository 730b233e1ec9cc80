; Blocks on a table and one hand that holds at most one of them.
(define (domain blocksworld-4ops)
  (:requirements :strips)
  (:predicates
    (clear ?block)            ; nothing stands on it and it is not held
    (on-table ?block)
    (arm-empty)
    (holding ?block)
    (on ?block ?below))

  (:action pickup
    :parameters (?block)
    :precondition (and (arm-empty) (clear ?block) (on-table ?block))
    :effect (and
      (holding ?block)
      (not (arm-empty)) (not (clear ?block)) (not (on-table ?block))))

  (:action putdown
    :parameters (?block)
    :precondition (and (holding ?block))
    :effect (and
      (arm-empty) (clear ?block) (on-table ?block)
      (not (holding ?block))))

  (:action stack
    :parameters (?block ?below)
    :precondition (and (holding ?block) (clear ?below))
    :effect (and
      (arm-empty) (clear ?block) (on ?block ?below)
      (not (holding ?block)) (not (clear ?below))))

  (:action unstack
    :parameters (?block ?below)
    :precondition (and (arm-empty) (clear ?block) (on ?block ?below))
    :effect (and
      (holding ?block) (clear ?below)
      (not (arm-empty)) (not (clear ?block)) (not (on ?block ?below)))))

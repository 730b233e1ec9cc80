; A ferry takes one car at a time between the shores of a lake.
(define (domain ferry)
  (:requirements :strips)
  (:predicates
    (not-eq ?here ?there)     ; two different places
    (car ?car)
    (location ?place)
    (at-ferry ?place)
    (at ?car ?place)
    (empty-ferry)
    (on ?car))                ; on the ferry

  (:action sail
    :parameters (?here ?there)
    :precondition (and
      (location ?here) (location ?there) (not-eq ?here ?there)
      (at-ferry ?here))
    :effect (and (at-ferry ?there) (not (at-ferry ?here))))

  (:action board
    :parameters (?car ?place)
    :precondition (and
      (car ?car) (location ?place)
      (at ?car ?place) (at-ferry ?place) (empty-ferry))
    :effect (and (on ?car) (not (at ?car ?place)) (not (empty-ferry))))

  (:action debark
    :parameters (?car ?place)
    :precondition (and
      (car ?car) (location ?place)
      (on ?car) (at-ferry ?place))
    :effect (and (at ?car ?place) (empty-ferry) (not (on ?car)))))

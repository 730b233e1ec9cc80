; A street of curbs. At each curb one car may stand, and behind it one more.
(define (domain parking)
  (:requirements :strips :typing)
  (:types car curb)
  (:predicates
    (at-curb ?car - car)
    (at-curb-num ?car - car ?curb - curb)
    (behind-car ?car - car ?front - car)
    (car-clear ?car - car)    ; no car stands behind it
    (curb-clear ?curb - curb))

  (:action move-curb-to-curb
    :parameters (?car - car ?from - curb ?to - curb)
    :precondition (and
      (at-curb-num ?car ?from) (car-clear ?car) (curb-clear ?to))
    :effect (and
      (at-curb-num ?car ?to) (curb-clear ?from)
      (not (at-curb-num ?car ?from)) (not (curb-clear ?to))))

  (:action move-curb-to-car
    :parameters (?car - car ?from - curb ?front - car)
    :precondition (and
      (at-curb-num ?car ?from) (car-clear ?car)
      (at-curb ?front) (car-clear ?front))
    :effect (and
      (behind-car ?car ?front) (curb-clear ?from)
      (not (at-curb-num ?car ?from)) (not (at-curb ?car))
      (not (car-clear ?front))))

  (:action move-car-to-curb
    :parameters (?car - car ?front - car ?to - curb)
    :precondition (and
      (behind-car ?car ?front) (car-clear ?car) (curb-clear ?to))
    :effect (and
      (at-curb ?car) (at-curb-num ?car ?to) (car-clear ?front)
      (not (behind-car ?car ?front)) (not (curb-clear ?to))))

  (:action move-car-to-car
    :parameters (?car - car ?front - car ?next - car)
    :precondition (and
      (behind-car ?car ?front) (car-clear ?car)
      (at-curb ?next) (car-clear ?next))
    :effect (and
      (behind-car ?car ?next) (car-clear ?front)
      (not (behind-car ?car ?front)) (not (car-clear ?next)))))

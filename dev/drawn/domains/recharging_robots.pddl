; Recharging robots (2023): robots share their batteries' charge and guard sets of places.
(define (domain recharging-robots)
  (:requirements :typing :negative-preconditions :equality :action-costs)
  (:types location robot battery-level config - object)

  (:predicates
    (connected ?l1 - location ?l2 - location)
    (battery-predecessor ?bpre - battery-level ?bpost - battery-level)
    (guard-config-2 ?c - config ?l0 - location ?l1 - location)
    (guard-config-3 ?c - config ?l0 - location ?l1 - location ?l2 - location)
    (guard-config-4 ?c - config ?l0 - location ?l1 - location ?l2 - location ?l3 - location)
    (at ?r - robot ?l - location)
    (battery ?r - robot ?b - battery-level)
    (stopped ?r - robot)
    (guarded ?l - location)
    (config-fullfilled ?c - config))

  (:functions (move-cost) - number (recharge-cost) - number (total-cost) - number)

  (:action move
    :parameters (?r - robot ?from - location ?to - location ?fpre - battery-level
                 ?fpost - battery-level)
    :precondition (and (at ?r ?from) (not (stopped ?r)) (battery ?r ?fpre) (connected ?from ?to)
                       (battery-predecessor ?fpost ?fpre))
    :effect (and (not (at ?r ?from)) (at ?r ?to) (not (battery ?r ?fpre)) (battery ?r ?fpost)
                 (increase (total-cost) (move-cost))))

  (:action recharge
    :parameters (?rfrom - robot ?rto - robot ?loc - location ?fpre - battery-level
                 ?fpost - battery-level ?tpre - battery-level ?tpost - battery-level)
    :precondition (and (not (= ?rfrom ?rto)) (at ?rfrom ?loc) (at ?rto ?loc) (battery ?rfrom ?fpre)
                       (battery ?rto ?tpre) (battery-predecessor ?fpost ?fpre)
                       (battery-predecessor ?tpre ?tpost))
    :effect (and (not (battery ?rfrom ?fpre)) (battery ?rfrom ?fpost) (not (battery ?rto ?tpre))
                 (battery ?rto ?tpost) (increase (total-cost) (recharge-cost))))

  (:action stop
    :parameters (?r - robot ?l - location)
    :precondition (and (at ?r ?l) (not (stopped ?r)) (not (guarded ?l)))
    :effect (and (stopped ?r) (guarded ?l) (increase (total-cost) 0)))

  (:action restart
    :parameters (?r - robot ?l - location)
    :precondition (and (at ?r ?l) (stopped ?r))
    :effect (and (not (stopped ?r)) (not (guarded ?l)) (increase (total-cost) 0)))

  (:action verify-guard-config-2
    :parameters (?c - config ?l0 - location ?l1 - location)
    :precondition (and (guard-config-2 ?c ?l0 ?l1) (guarded ?l0) (guarded ?l1))
    :effect (and (config-fullfilled ?c) (increase (total-cost) 0)))

  (:action verify-guard-config-3
    :parameters (?c - config ?l0 - location ?l1 - location ?l2 - location)
    :precondition (and (guard-config-3 ?c ?l0 ?l1 ?l2) (guarded ?l0) (guarded ?l1) (guarded ?l2))
    :effect (and (config-fullfilled ?c) (increase (total-cost) 0)))

  (:action verify-guard-config-4
    :parameters (?c - config ?l0 - location ?l1 - location ?l2 - location ?l3 - location)
    :precondition (and (guard-config-4 ?c ?l0 ?l1 ?l2 ?l3) (guarded ?l0) (guarded ?l1) (guarded ?l2)
                       (guarded ?l3))
    :effect (and (config-fullfilled ?c) (increase (total-cost) 0))))

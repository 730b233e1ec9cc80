; Petri net alignment (2018): a recorded trace is aligned with a net; a step in both is
; free, a step in one alone costs.
(define (domain petri-net-alignment)
  (:requirements :strips :typing :negative-preconditions :action-costs)
  (:types place transition event)

  (:predicates
    (token ?p - place)
    (trace-pointer ?e - event)
    (trace-next ?e - event ?f - event)
    (label ?e - event ?t - transition)
    (arc11 ?t - transition ?i - place ?o - place)
    (arc12 ?t - transition ?i - place ?o1 - place ?o2 - place)
    (arc21 ?t - transition ?i1 - place ?i2 - place ?o - place)
    (invisible ?t - transition)
    (visible ?t - transition))

  (:functions (total-cost) - number)

  (:action move-log
    :parameters (?e - event ?f - event)
    :precondition (and (trace-pointer ?e) (trace-next ?e ?f))
    :effect (and (not (trace-pointer ?e)) (trace-pointer ?f) (increase (total-cost) 10000)))

  (:action move-sync-11
    :parameters (?t - transition ?i - place ?o - place ?e - event ?f - event)
    :precondition (and (arc11 ?t ?i ?o) (token ?i) (trace-pointer ?e) (trace-next ?e ?f)
                       (label ?e ?t))
    :effect (and (not (token ?i)) (token ?o) (not (trace-pointer ?e)) (trace-pointer ?f)
                 (increase (total-cost) 0)))

  (:action move-model-11
    :parameters (?t - transition ?i - place ?o - place)
    :precondition (and (visible ?t) (arc11 ?t ?i ?o) (token ?i))
    :effect (and (not (token ?i)) (token ?o) (increase (total-cost) 10000)))

  (:action move-invisible-11
    :parameters (?t - transition ?i - place ?o - place)
    :precondition (and (invisible ?t) (arc11 ?t ?i ?o) (token ?i))
    :effect (and (not (token ?i)) (token ?o) (increase (total-cost) 0)))

  (:action move-sync-12
    :parameters (?t - transition ?i - place ?o1 - place ?o2 - place ?e - event ?f - event)
    :precondition (and (arc12 ?t ?i ?o1 ?o2) (token ?i) (trace-pointer ?e) (trace-next ?e ?f)
                       (label ?e ?t))
    :effect (and (not (token ?i)) (token ?o1) (token ?o2) (not (trace-pointer ?e))
                 (trace-pointer ?f) (increase (total-cost) 0)))

  (:action move-model-12
    :parameters (?t - transition ?i - place ?o1 - place ?o2 - place)
    :precondition (and (visible ?t) (arc12 ?t ?i ?o1 ?o2) (token ?i))
    :effect (and (not (token ?i)) (token ?o1) (token ?o2) (increase (total-cost) 10000)))

  (:action move-invisible-12
    :parameters (?t - transition ?i - place ?o1 - place ?o2 - place)
    :precondition (and (invisible ?t) (arc12 ?t ?i ?o1 ?o2) (token ?i))
    :effect (and (not (token ?i)) (token ?o1) (token ?o2) (increase (total-cost) 0)))

  (:action move-sync-21
    :parameters (?t - transition ?i1 - place ?i2 - place ?o - place ?e - event ?f - event)
    :precondition (and (arc21 ?t ?i1 ?i2 ?o) (token ?i1) (token ?i2) (trace-pointer ?e)
                       (trace-next ?e ?f) (label ?e ?t))
    :effect (and (not (token ?i1)) (not (token ?i2)) (token ?o) (not (trace-pointer ?e))
                 (trace-pointer ?f) (increase (total-cost) 0)))

  (:action move-model-21
    :parameters (?t - transition ?i1 - place ?i2 - place ?o - place)
    :precondition (and (visible ?t) (arc21 ?t ?i1 ?i2 ?o) (token ?i1) (token ?i2))
    :effect (and (not (token ?i1)) (not (token ?i2)) (token ?o) (increase (total-cost) 10000)))

  (:action move-invisible-21
    :parameters (?t - transition ?i1 - place ?i2 - place ?o - place)
    :precondition (and (invisible ?t) (arc21 ?t ?i1 ?i2 ?o) (token ?i1) (token ?i2))
    :effect (and (not (token ?i1)) (not (token ?i2)) (token ?o) (increase (total-cost) 0))))

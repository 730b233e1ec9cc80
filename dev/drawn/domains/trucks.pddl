; Trucks (2006): packages loaded in the order of the areas of a truck, some with deadlines.
(define (domain trucks-strips)
  (:requirements :typing)
  (:types truckarea time location locatable - object truck package - locatable)

  (:predicates
    (at ?x - locatable ?l - location)
    (in ?p - package ?t - truck ?a - truckarea)
    (connected ?x - location ?y - location)
    (free ?a - truckarea ?t - truck)
    (time-now ?t - time)
    (next ?t1 - time ?t2 - time)
    (le ?t1 - time ?t2 - time)
    (delivered ?p - package ?l - location ?t - time)
    (at-destination ?p - package ?l - location)
    (access-0 ?a - truckarea)
    (access-1 ?a - truckarea ?b1 - truckarea)
    (access-2 ?a - truckarea ?b1 - truckarea ?b2 - truckarea)
    (access-3 ?a - truckarea ?b1 - truckarea ?b2 - truckarea ?b3 - truckarea))

  (:action load-0
    :parameters (?p - package ?t - truck ?a - truckarea ?l - location)
    :precondition (and (access-0 ?a) (at ?t ?l) (at ?p ?l) (free ?a ?t))
    :effect (and (not (at ?p ?l)) (not (free ?a ?t)) (in ?p ?t ?a)))

  (:action unload-0
    :parameters (?p - package ?t - truck ?a - truckarea ?l - location)
    :precondition (and (access-0 ?a) (at ?t ?l) (in ?p ?t ?a))
    :effect (and (not (in ?p ?t ?a)) (free ?a ?t) (at ?p ?l)))

  (:action load-1
    :parameters (?p - package ?t - truck ?a - truckarea ?l - location ?b1 - truckarea)
    :precondition (and (access-1 ?a ?b1) (at ?t ?l) (at ?p ?l) (free ?a ?t) (free ?b1 ?t))
    :effect (and (not (at ?p ?l)) (not (free ?a ?t)) (in ?p ?t ?a)))

  (:action unload-1
    :parameters (?p - package ?t - truck ?a - truckarea ?l - location ?b1 - truckarea)
    :precondition (and (access-1 ?a ?b1) (at ?t ?l) (in ?p ?t ?a) (free ?b1 ?t))
    :effect (and (not (in ?p ?t ?a)) (free ?a ?t) (at ?p ?l)))

  (:action load-2
    :parameters (?p - package ?t - truck ?a - truckarea ?l - location ?b1 - truckarea
                 ?b2 - truckarea)
    :precondition (and (access-2 ?a ?b1 ?b2) (at ?t ?l) (at ?p ?l) (free ?a ?t) (free ?b1 ?t)
                       (free ?b2 ?t))
    :effect (and (not (at ?p ?l)) (not (free ?a ?t)) (in ?p ?t ?a)))

  (:action unload-2
    :parameters (?p - package ?t - truck ?a - truckarea ?l - location ?b1 - truckarea
                 ?b2 - truckarea)
    :precondition (and (access-2 ?a ?b1 ?b2) (at ?t ?l) (in ?p ?t ?a) (free ?b1 ?t) (free ?b2 ?t))
    :effect (and (not (in ?p ?t ?a)) (free ?a ?t) (at ?p ?l)))

  (:action load-3
    :parameters (?p - package ?t - truck ?a - truckarea ?l - location ?b1 - truckarea
                 ?b2 - truckarea ?b3 - truckarea)
    :precondition (and (access-3 ?a ?b1 ?b2 ?b3) (at ?t ?l) (at ?p ?l) (free ?a ?t) (free ?b1 ?t)
                       (free ?b2 ?t) (free ?b3 ?t))
    :effect (and (not (at ?p ?l)) (not (free ?a ?t)) (in ?p ?t ?a)))

  (:action unload-3
    :parameters (?p - package ?t - truck ?a - truckarea ?l - location ?b1 - truckarea
                 ?b2 - truckarea ?b3 - truckarea)
    :precondition (and (access-3 ?a ?b1 ?b2 ?b3) (at ?t ?l) (in ?p ?t ?a) (free ?b1 ?t)
                       (free ?b2 ?t) (free ?b3 ?t))
    :effect (and (not (in ?p ?t ?a)) (free ?a ?t) (at ?p ?l)))

  (:action drive
    :parameters (?t - truck ?from - location ?to - location ?t1 - time ?t2 - time)
    :precondition (and (at ?t ?from) (connected ?from ?to) (time-now ?t1) (next ?t1 ?t2))
    :effect (and (not (at ?t ?from)) (not (time-now ?t1)) (time-now ?t2) (at ?t ?to)))

  (:action deliver
    :parameters (?p - package ?l - location ?t1 - time ?t2 - time)
    :precondition (and (at ?p ?l) (time-now ?t1) (le ?t1 ?t2))
    :effect (and (not (at ?p ?l)) (delivered ?p ?l ?t2) (at-destination ?p ?l))))

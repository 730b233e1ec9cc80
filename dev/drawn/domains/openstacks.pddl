; Openstacks (2006 to 2014): products made while few orders are open at once.
(define (domain openstacks-sequencedstrips-nonadl)
  (:requirements :typing :action-costs)
  (:types order product count)

  ; The competition's STRIPS version has one action for each product and each order; here
  ; the same ground actions come of static facts.
  (:predicates
    (included-by-1 ?p - product ?o0 - order)
    (included-by-2 ?p - product ?o0 - order ?o1 - order)
    (included-by-3 ?p - product ?o0 - order ?o1 - order ?o2 - order)
    (included-by-4 ?p - product ?o0 - order ?o1 - order ?o2 - order ?o3 - order)
    (included-by-5 ?p - product ?o0 - order ?o1 - order ?o2 - order ?o3 - order ?o4 - order)
    (included-by-6 ?p - product ?o0 - order ?o1 - order ?o2 - order ?o3 - order ?o4 - order
                   ?o5 - order)
    (included-by-7 ?p - product ?o0 - order ?o1 - order ?o2 - order ?o3 - order ?o4 - order
                   ?o5 - order ?o6 - order)
    (included-by-8 ?p - product ?o0 - order ?o1 - order ?o2 - order ?o3 - order ?o4 - order
                   ?o5 - order ?o6 - order ?o7 - order)
    (includes-1 ?o - order ?p0 - product)
    (includes-2 ?o - order ?p0 - product ?p1 - product)
    (includes-3 ?o - order ?p0 - product ?p1 - product ?p2 - product)
    (includes-4 ?o - order ?p0 - product ?p1 - product ?p2 - product ?p3 - product)
    (includes-5 ?o - order ?p0 - product ?p1 - product ?p2 - product ?p3 - product ?p4 - product)
    (includes-6 ?o - order ?p0 - product ?p1 - product ?p2 - product ?p3 - product ?p4 - product
                ?p5 - product)
    (includes-7 ?o - order ?p0 - product ?p1 - product ?p2 - product ?p3 - product ?p4 - product
                ?p5 - product ?p6 - product)
    (includes-8 ?o - order ?p0 - product ?p1 - product ?p2 - product ?p3 - product ?p4 - product
                ?p5 - product ?p6 - product ?p7 - product)
    (waiting ?o - order)
    (started ?o - order)
    (shipped ?o - order)
    (made ?p - product)
    (not-made ?p - product)
    (stacks-avail ?s - count)
    (next-count ?s - count ?ns - count))

  (:functions (total-cost) - number)

  (:action open-new-stack
    :parameters (?open - count ?new-open - count)
    :precondition (and (stacks-avail ?open) (next-count ?open ?new-open))
    :effect (and (not (stacks-avail ?open)) (stacks-avail ?new-open) (increase (total-cost) 1)))

  (:action start-order
    :parameters (?o - order ?avail - count ?new-avail - count)
    :precondition (and (waiting ?o) (stacks-avail ?avail) (next-count ?new-avail ?avail))
    :effect (and (not (waiting ?o)) (started ?o) (not (stacks-avail ?avail))
                 (stacks-avail ?new-avail)))

  (:action make-product-1
    :parameters (?p - product ?o0 - order)
    :precondition (and (not-made ?p) (included-by-1 ?p ?o0) (started ?o0))
    :effect (and (not (not-made ?p)) (made ?p)))

  (:action ship-order-1
    :parameters (?o - order ?p0 - product ?avail - count ?new-avail - count)
    :precondition (and (started ?o) (includes-1 ?o ?p0) (made ?p0) (stacks-avail ?avail)
                       (next-count ?avail ?new-avail))
    :effect (and (not (started ?o)) (shipped ?o) (not (stacks-avail ?avail))
                 (stacks-avail ?new-avail)))

  (:action make-product-2
    :parameters (?p - product ?o0 - order ?o1 - order)
    :precondition (and (not-made ?p) (included-by-2 ?p ?o0 ?o1) (started ?o0) (started ?o1))
    :effect (and (not (not-made ?p)) (made ?p)))

  (:action ship-order-2
    :parameters (?o - order ?p0 - product ?p1 - product ?avail - count ?new-avail - count)
    :precondition (and (started ?o) (includes-2 ?o ?p0 ?p1) (made ?p0) (made ?p1)
                       (stacks-avail ?avail) (next-count ?avail ?new-avail))
    :effect (and (not (started ?o)) (shipped ?o) (not (stacks-avail ?avail))
                 (stacks-avail ?new-avail)))

  (:action make-product-3
    :parameters (?p - product ?o0 - order ?o1 - order ?o2 - order)
    :precondition (and (not-made ?p) (included-by-3 ?p ?o0 ?o1 ?o2) (started ?o0) (started ?o1)
                       (started ?o2))
    :effect (and (not (not-made ?p)) (made ?p)))

  (:action ship-order-3
    :parameters (?o - order ?p0 - product ?p1 - product ?p2 - product ?avail - count
                 ?new-avail - count)
    :precondition (and (started ?o) (includes-3 ?o ?p0 ?p1 ?p2) (made ?p0) (made ?p1) (made ?p2)
                       (stacks-avail ?avail) (next-count ?avail ?new-avail))
    :effect (and (not (started ?o)) (shipped ?o) (not (stacks-avail ?avail))
                 (stacks-avail ?new-avail)))

  (:action make-product-4
    :parameters (?p - product ?o0 - order ?o1 - order ?o2 - order ?o3 - order)
    :precondition (and (not-made ?p) (included-by-4 ?p ?o0 ?o1 ?o2 ?o3) (started ?o0) (started ?o1)
                       (started ?o2) (started ?o3))
    :effect (and (not (not-made ?p)) (made ?p)))

  (:action ship-order-4
    :parameters (?o - order ?p0 - product ?p1 - product ?p2 - product ?p3 - product ?avail - count
                 ?new-avail - count)
    :precondition (and (started ?o) (includes-4 ?o ?p0 ?p1 ?p2 ?p3) (made ?p0) (made ?p1) (made ?p2)
                       (made ?p3) (stacks-avail ?avail) (next-count ?avail ?new-avail))
    :effect (and (not (started ?o)) (shipped ?o) (not (stacks-avail ?avail))
                 (stacks-avail ?new-avail)))

  (:action make-product-5
    :parameters (?p - product ?o0 - order ?o1 - order ?o2 - order ?o3 - order ?o4 - order)
    :precondition (and (not-made ?p) (included-by-5 ?p ?o0 ?o1 ?o2 ?o3 ?o4) (started ?o0)
                       (started ?o1) (started ?o2) (started ?o3) (started ?o4))
    :effect (and (not (not-made ?p)) (made ?p)))

  (:action ship-order-5
    :parameters (?o - order ?p0 - product ?p1 - product ?p2 - product ?p3 - product ?p4 - product
                 ?avail - count ?new-avail - count)
    :precondition (and (started ?o) (includes-5 ?o ?p0 ?p1 ?p2 ?p3 ?p4) (made ?p0) (made ?p1)
                       (made ?p2) (made ?p3) (made ?p4) (stacks-avail ?avail)
                       (next-count ?avail ?new-avail))
    :effect (and (not (started ?o)) (shipped ?o) (not (stacks-avail ?avail))
                 (stacks-avail ?new-avail)))

  (:action make-product-6
    :parameters (?p - product ?o0 - order ?o1 - order ?o2 - order ?o3 - order ?o4 - order
                 ?o5 - order)
    :precondition (and (not-made ?p) (included-by-6 ?p ?o0 ?o1 ?o2 ?o3 ?o4 ?o5) (started ?o0)
                       (started ?o1) (started ?o2) (started ?o3) (started ?o4) (started ?o5))
    :effect (and (not (not-made ?p)) (made ?p)))

  (:action ship-order-6
    :parameters (?o - order ?p0 - product ?p1 - product ?p2 - product ?p3 - product ?p4 - product
                 ?p5 - product ?avail - count ?new-avail - count)
    :precondition (and (started ?o) (includes-6 ?o ?p0 ?p1 ?p2 ?p3 ?p4 ?p5) (made ?p0) (made ?p1)
                       (made ?p2) (made ?p3) (made ?p4) (made ?p5) (stacks-avail ?avail)
                       (next-count ?avail ?new-avail))
    :effect (and (not (started ?o)) (shipped ?o) (not (stacks-avail ?avail))
                 (stacks-avail ?new-avail)))

  (:action make-product-7
    :parameters (?p - product ?o0 - order ?o1 - order ?o2 - order ?o3 - order ?o4 - order
                 ?o5 - order ?o6 - order)
    :precondition (and (not-made ?p) (included-by-7 ?p ?o0 ?o1 ?o2 ?o3 ?o4 ?o5 ?o6) (started ?o0)
                       (started ?o1) (started ?o2) (started ?o3) (started ?o4) (started ?o5)
                       (started ?o6))
    :effect (and (not (not-made ?p)) (made ?p)))

  (:action ship-order-7
    :parameters (?o - order ?p0 - product ?p1 - product ?p2 - product ?p3 - product ?p4 - product
                 ?p5 - product ?p6 - product ?avail - count ?new-avail - count)
    :precondition (and (started ?o) (includes-7 ?o ?p0 ?p1 ?p2 ?p3 ?p4 ?p5 ?p6) (made ?p0)
                       (made ?p1) (made ?p2) (made ?p3) (made ?p4) (made ?p5) (made ?p6)
                       (stacks-avail ?avail) (next-count ?avail ?new-avail))
    :effect (and (not (started ?o)) (shipped ?o) (not (stacks-avail ?avail))
                 (stacks-avail ?new-avail)))

  (:action make-product-8
    :parameters (?p - product ?o0 - order ?o1 - order ?o2 - order ?o3 - order ?o4 - order
                 ?o5 - order ?o6 - order ?o7 - order)
    :precondition (and (not-made ?p) (included-by-8 ?p ?o0 ?o1 ?o2 ?o3 ?o4 ?o5 ?o6 ?o7)
                       (started ?o0) (started ?o1) (started ?o2) (started ?o3) (started ?o4)
                       (started ?o5) (started ?o6) (started ?o7))
    :effect (and (not (not-made ?p)) (made ?p)))

  (:action ship-order-8
    :parameters (?o - order ?p0 - product ?p1 - product ?p2 - product ?p3 - product ?p4 - product
                 ?p5 - product ?p6 - product ?p7 - product ?avail - count ?new-avail - count)
    :precondition (and (started ?o) (includes-8 ?o ?p0 ?p1 ?p2 ?p3 ?p4 ?p5 ?p6 ?p7) (made ?p0)
                       (made ?p1) (made ?p2) (made ?p3) (made ?p4) (made ?p5) (made ?p6) (made ?p7)
                       (stacks-avail ?avail) (next-count ?avail ?new-avail))
    :effect (and (not (started ?o)) (shipped ?o) (not (stacks-avail ?avail))
                 (stacks-avail ?new-avail))))

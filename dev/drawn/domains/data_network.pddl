; Data network (2018): scripts turn data into other data on servers of limited memory.
(define (domain data-network)
  (:requirements :adl :typing :action-costs)
  (:types data script server numbers - object)

  (:predicates
    (script-io ?s - script ?in1 - data ?in2 - data ?out - data)
    (connected ?s1 - server ?s2 - server)
    (data-size ?d - data ?n - numbers)
    (capacity ?s - server ?n - numbers)
    (sum ?n1 - numbers ?n2 - numbers ?sum - numbers)
    (less-equal ?n1 - numbers ?n2 - numbers)
    (cached ?d - data ?s - server)
    (saved ?d - data ?s - server)
    (usage ?s - server ?n - numbers))

  (:functions (total-cost) - number
              (process-cost ?sc - script ?s - server) - number
              (send-cost ?from - server ?to - server ?size - numbers) - number
              (io-cost ?s - server ?size - numbers) - number)

  (:action release
    :parameters (?d - data ?s - server ?size - numbers ?before - numbers ?after - numbers)
    :precondition (and (data-size ?d ?size) (sum ?after ?size ?before) (cached ?d ?s)
                       (usage ?s ?before))
    :effect (and (not (cached ?d ?s)) (not (usage ?s ?before)) (usage ?s ?after)
                 (increase (total-cost) 0)))

  (:action save
    :parameters (?d - data ?size - numbers ?s - server)
    :precondition (and (data-size ?d ?size) (cached ?d ?s))
    :effect (and (saved ?d ?s) (increase (total-cost) (io-cost ?s ?size))))

  (:action load
    :parameters (?d - data ?size - numbers ?s - server ?limit - numbers ?before - numbers
                 ?after - numbers)
    :precondition (and (data-size ?d ?size) (capacity ?s ?limit) (sum ?before ?size ?after)
                       (less-equal ?after ?limit) (saved ?d ?s) (not (cached ?d ?s))
                       (usage ?s ?before))
    :effect (and (cached ?d ?s) (not (usage ?s ?before)) (usage ?s ?after)
                 (increase (total-cost) (io-cost ?s ?size))))

  (:action send
    :parameters (?from - server ?to - server ?d - data ?size - numbers ?limit - numbers
                 ?before - numbers ?after - numbers)
    :precondition (and (connected ?from ?to) (data-size ?d ?size) (capacity ?to ?limit)
                       (sum ?before ?size ?after) (less-equal ?after ?limit) (cached ?d ?from)
                       (not (cached ?d ?to)) (usage ?to ?before))
    :effect (and (cached ?d ?to) (not (usage ?to ?before)) (usage ?to ?after)
                 (increase (total-cost) (send-cost ?from ?to ?size))))

  (:action process
    :parameters (?in1 - data ?in2 - data ?out - data ?sc - script ?s - server ?size - numbers
                 ?limit - numbers ?before - numbers ?after - numbers)
    :precondition (and (script-io ?sc ?in1 ?in2 ?out) (data-size ?out ?size) (capacity ?s ?limit)
                       (sum ?before ?size ?after) (less-equal ?after ?limit) (cached ?in1 ?s)
                       (cached ?in2 ?s) (not (cached ?out ?s)) (usage ?s ?before))
    :effect (and (cached ?out ?s) (not (usage ?s ?before)) (usage ?s ?after)
                 (increase (total-cost) (process-cost ?sc ?s)))))

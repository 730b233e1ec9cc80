; Snake (2018): the snake grows by each apple that it eats, and new apples appear.
(define (domain snake)
  (:requirements :strips :negative-preconditions :equality)
  (:constants dummypoint)

  (:predicates
    (isadjacent ?x ?y)
    (tailsnake ?x)
    (headsnake ?x)
    (nextsnake ?x ?y)
    (blocked ?x)
    (spawn ?x)
    (nextspawn ?x ?y)
    (ispoint ?x))

  (:action move
    :parameters (?head ?newhead ?tail ?newtail)
    :precondition (and (headsnake ?head) (isadjacent ?head ?newhead) (tailsnake ?tail)
                       (nextsnake ?newtail ?tail) (not (blocked ?newhead)) (not (ispoint ?newhead)))
    :effect (and (blocked ?newhead) (headsnake ?newhead) (nextsnake ?newhead ?head)
                 (not (headsnake ?head)) (not (blocked ?tail)) (not (tailsnake ?tail))
                 (not (nextsnake ?newtail ?tail)) (tailsnake ?newtail)))

  (:action move-and-eat-spawn
    :parameters (?head ?newhead ?spawnpoint ?nextspawnpoint)
    :precondition (and (headsnake ?head) (isadjacent ?head ?newhead) (not (blocked ?newhead))
                       (ispoint ?newhead) (spawn ?spawnpoint)
                       (nextspawn ?spawnpoint ?nextspawnpoint) (not (= ?spawnpoint dummypoint)))
    :effect (and (blocked ?newhead) (headsnake ?newhead) (nextsnake ?newhead ?head)
                 (not (headsnake ?head)) (not (ispoint ?newhead)) (ispoint ?spawnpoint)
                 (not (spawn ?spawnpoint)) (spawn ?nextspawnpoint)))

  (:action move-and-eat-no-spawn
    :parameters (?head ?newhead)
    :precondition (and (headsnake ?head) (isadjacent ?head ?newhead) (not (blocked ?newhead))
                       (ispoint ?newhead) (spawn dummypoint))
    :effect (and (blocked ?newhead) (headsnake ?newhead) (nextsnake ?newhead ?head)
                 (not (headsnake ?head)) (not (ispoint ?newhead)))))

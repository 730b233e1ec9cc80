; Trucks move packages within a city, airplanes between the airports of cities.
(define (domain logistics-strips)
  (:requirements :strips)
  (:predicates
    (obj ?package)
    (truck ?truck)
    (location ?place)
    (airplane ?plane)
    (city ?city)
    (airport ?place)
    (at ?thing ?place)        ; of packages, trucks and airplanes
    (in ?package ?vehicle)
    (in-city ?place ?city))

  (:action load-truck
    :parameters (?package ?truck ?place)
    :precondition (and
      (obj ?package) (truck ?truck) (location ?place)
      (at ?package ?place) (at ?truck ?place))
    :effect (and (in ?package ?truck) (not (at ?package ?place))))

  (:action load-airplane
    :parameters (?package ?plane ?place)
    :precondition (and
      (obj ?package) (airplane ?plane) (location ?place)
      (at ?package ?place) (at ?plane ?place))
    :effect (and (in ?package ?plane) (not (at ?package ?place))))

  (:action unload-truck
    :parameters (?package ?truck ?place)
    :precondition (and
      (obj ?package) (truck ?truck) (location ?place)
      (in ?package ?truck) (at ?truck ?place))
    :effect (and (at ?package ?place) (not (in ?package ?truck))))

  (:action unload-airplane
    :parameters (?package ?plane ?place)
    :precondition (and
      (obj ?package) (airplane ?plane) (location ?place)
      (in ?package ?plane) (at ?plane ?place))
    :effect (and (at ?package ?place) (not (in ?package ?plane))))

  (:action drive-truck
    :parameters (?truck ?here ?there ?city)
    :precondition (and
      (truck ?truck) (location ?here) (location ?there) (city ?city)
      (in-city ?here ?city) (in-city ?there ?city)
      (at ?truck ?here))
    :effect (and (at ?truck ?there) (not (at ?truck ?here))))

  (:action fly-airplane
    :parameters (?plane ?here ?there)
    :precondition (and
      (airplane ?plane) (airport ?here) (airport ?there)
      (at ?plane ?here))
    :effect (and (at ?plane ?there) (not (at ?plane ?here)))))

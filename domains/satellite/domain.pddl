; Satellites turn to targets and take images with instruments that must be on and calibrated.
(define (domain satellite)
  (:requirements :strips :typing)
  (:types satellite direction instrument mode)
  (:predicates
    (on_board ?instrument - instrument ?satellite - satellite)
    (supports ?instrument - instrument ?mode - mode)
    (pointing ?satellite - satellite ?where - direction)
    (power_avail ?satellite - satellite)
    (power_on ?instrument - instrument)
    (calibrated ?instrument - instrument)
    (have_image ?where - direction ?mode - mode)
    (calibration_target ?instrument - instrument ?where - direction))

  (:action turn_to
    :parameters (?satellite - satellite ?to - direction ?from - direction)
    :precondition (and (pointing ?satellite ?from))
    :effect (and (pointing ?satellite ?to) (not (pointing ?satellite ?from))))

  (:action switch_on
    :parameters (?instrument - instrument ?satellite - satellite)
    :precondition (and (on_board ?instrument ?satellite) (power_avail ?satellite))
    :effect (and
      (power_on ?instrument)
      (not (power_avail ?satellite)) (not (calibrated ?instrument))))

  (:action switch_off
    :parameters (?instrument - instrument ?satellite - satellite)
    :precondition (and (on_board ?instrument ?satellite) (power_on ?instrument))
    :effect (and (power_avail ?satellite) (not (power_on ?instrument))))

  (:action calibrate
    :parameters (?satellite - satellite ?instrument - instrument ?where - direction)
    :precondition (and
      (on_board ?instrument ?satellite) (calibration_target ?instrument ?where)
      (power_on ?instrument) (pointing ?satellite ?where))
    :effect (and (calibrated ?instrument)))

  (:action take_image
    :parameters (?satellite - satellite ?where - direction
                 ?instrument - instrument ?mode - mode)
    :precondition (and
      (on_board ?instrument ?satellite) (supports ?instrument ?mode)
      (power_on ?instrument) (calibrated ?instrument)
      (pointing ?satellite ?where))
    :effect (and (have_image ?where ?mode))))

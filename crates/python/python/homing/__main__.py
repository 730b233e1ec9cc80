"""``python -m homing`` is the command ``homing``."""

from homing.command import main

if __name__ == "__main__":
    main()

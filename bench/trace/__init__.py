"""How much of the program one action runs through: modules and functions, counted with `sys.setprofile`."""

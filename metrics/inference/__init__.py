"""How sure a number or a difference is: what is sampled, and the interval that follows from it."""

"""What good and bad replies of a model come to, through the doors that users have; the simulator gives the replies."""

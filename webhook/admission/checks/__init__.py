"""What is checked of each kind of object that is not a pod, at its submission."""

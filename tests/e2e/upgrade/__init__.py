"""From the previous version of chart and programs to this one, and back."""

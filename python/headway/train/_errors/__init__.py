"""What ``fit()`` raises."""

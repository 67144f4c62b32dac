"""What the integrations of XGBoost and LightGBM have in common."""

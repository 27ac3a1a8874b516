"""Hyperparameter sweeps with Optuna; every trial is one or more ordinary runs."""

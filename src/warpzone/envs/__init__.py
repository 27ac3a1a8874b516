"""Gymnasium environments: the readable single env, the fast vector env, ids, actions."""

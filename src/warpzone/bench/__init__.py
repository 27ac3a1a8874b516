"""The measurements behind `warpzone bench`: how fast Warpzone runs on this machine.

Comparisons with other projects, and the published training times, are separate scripts in the
repository's `benchmarks/` folder; they reuse these workloads.
"""

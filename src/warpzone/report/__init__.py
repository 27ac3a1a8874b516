"""Reports: a run or a campaign as one page that needs nothing else."""

"""Reports: a run or a campaign as one self-contained HTML page."""

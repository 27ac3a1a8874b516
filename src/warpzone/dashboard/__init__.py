"""The dashboard: a web page about runs, served by a process of its own."""

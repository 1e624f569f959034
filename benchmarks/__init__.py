"""Side-by-side benchmarks of Linkwork and its peers; see README.md."""

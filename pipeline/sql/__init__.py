"""Questions over tables: what a database holds, which statement answers, and whether it may run."""

"""Demo databases of our own making: a shop of 22 tables and a base of 400 articles, equal in every run."""

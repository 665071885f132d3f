"""How fast the snippets are beside the libraries: ratios within one run, on one machine, recorded with its name."""

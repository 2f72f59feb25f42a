"""Files in: every format becomes a `ParsedBook`, read in a boxed child process."""

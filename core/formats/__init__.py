"""Files in: every format becomes a `ParsedBook`, read in a boxed child process of its own.

`reading` is the outside, `child` the inside, which starts in a blink because nothing is imported here.
"""

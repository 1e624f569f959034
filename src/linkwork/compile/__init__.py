"""Trace algorithms, lower them to vector code of the processor, and call it.

`kernel.build` makes a kernel of a recipe. Nothing is imported here: code from the cache needs
neither CasADi nor the compiler's own parts.
"""

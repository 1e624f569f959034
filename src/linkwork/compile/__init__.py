"""Trace algorithms, lower them to vector code of the processor, and call it."""

from linkwork.compile.kernel import Kernel as Kernel
from linkwork.compile.kernel import build as build
from linkwork.compile.tracing import Traced as Traced
from linkwork.compile.tracing import trace as trace

"""Simulation: forward dynamics, actuators and stops integrated over time.

Over compiled functions and below `Robot`: who calls it gives the compiler and the threads.
"""

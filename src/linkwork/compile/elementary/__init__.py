"""Elementary functions on vectors, as texts of an Emitter: no call in the common range.

Each function is right to the error that ``accuracy.py`` states. Lanes with rare arguments (huge,
denormal, not finite) take the C library's value; the other lanes do not notice.
"""

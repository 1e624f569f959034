"""The frozen model of a mechanism, and how it is made, edited and written."""

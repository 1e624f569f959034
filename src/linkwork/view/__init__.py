"""Robots seen: drawings, a page in the browser, pictures and films, and plots of what they do."""

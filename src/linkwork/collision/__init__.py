"""What touches what, and how near: shapes in pieces, distances, pairs of links."""

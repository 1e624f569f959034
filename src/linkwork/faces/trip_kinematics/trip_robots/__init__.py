"""Ready-made robots: an excavator's arm, a leg of the TriPed, and the TriPed."""

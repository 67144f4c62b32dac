"""Values that every part of Headway uses: checked arguments, metrics as JSON, pickles."""

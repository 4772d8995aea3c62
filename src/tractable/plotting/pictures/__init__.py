"""One module for each kind of picture, imported when one is drawn; importing it registers what it draws."""

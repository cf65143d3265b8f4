"""What the sites are filled with. Imported only in the builder's own process, after Django was set up."""

"""What is retrieved from a bank, who chooses among it, and the conditions that turn the choice into support."""

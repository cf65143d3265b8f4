"""A verified trajectory as a callable procedure with typed slots."""

"""What the service desk lacks: assets with filters and sorting, a service catalog, charts. A Django application."""

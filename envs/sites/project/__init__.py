"""The Django project that serves all sites. Imported only in the server's and the builder's own processes."""

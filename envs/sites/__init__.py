"""Real web applications in a real browser: shop, forum and wiki (`sites`), service desk and inventory (`desk`)."""

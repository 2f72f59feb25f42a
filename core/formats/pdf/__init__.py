"""PDF books: pages read in stream order, cleaned, joined to paragraphs; and pictures of pages with ranges drawn."""

"""What is remembered: topics as Markdown files, their index, their history, and how they are found again."""

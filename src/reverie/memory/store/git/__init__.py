"""Git operations that the history of a memory needs; knows nothing of topics.

Reading order: `program` runs git away from the user's settings; `repository` makes and finds the repository; `commits`
writes a commit and moves the branch; `refs` reads the branch and finds damage; `reading` gets contents back; `rewrite`
makes a history without some files.
"""

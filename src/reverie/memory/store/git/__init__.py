"""Git operations that the history of a memory needs; knows nothing of topics.

Reading order: `program` runs git away from the user's settings; `repository` makes and finds the repository; `objects`
writes blobs, trees and commits; `trees` keeps the trees of a directory; `refs` moves a branch; `entries` is git's
index file, which is our stat cache too; both keep their rows in `sorted_rows`; `reading` gets contents back; `rewrite`
makes a history without some files.
"""

"""What a memory's history needs of git, below any idea of topics.

Reading order: `program` runs git away from the user's settings; `objects` writes blobs, trees and commits; `refs` moves a
branch; `entries` is git's index file, which serves us as stat cache too; `repository` makes and finds the repository.
"""

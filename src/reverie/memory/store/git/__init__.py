"""Git operations that the history of a memory needs; knows nothing of topics.

Reading order: `repository` finds and makes the repository and runs git away from the user's settings; `commits` reads
and writes commits, trees and the branch; `rewrite` makes a history without some files.
"""

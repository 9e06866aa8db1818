"""What is generated from the code and checked before a release; nothing here is part of the package.

`reference` (the pages below `docs/reference`), `notices` (licences of the dependencies), `check` (builds the package,
installs it into clean environments and tries it there).
"""

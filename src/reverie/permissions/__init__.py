"""WHAT MAY HAPPEN WITHOUT ASKING.

`need` says what a call would do, `approval` how a person is asked and answers.
"""

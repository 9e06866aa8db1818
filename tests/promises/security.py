"""What we promise when the repository, the model, a server or the machine is not friendly."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "security:repository:nothing-runs": Requirement(
        "In a repository that somebody else made nothing of it runs, allows or redirects anything before a yes."
    ),
    "security:repository:git": Requirement(
        "No program that a repository's git configuration names runs because a session began or a question was asked."
    ),
    "security:repository:git-by-git": Requirement(
        "Which repository counts and what its settings say is told by git itself; any setting not known to be harmless "
        "is asked about, and an ordinary repository never is."
    ),
    "security:repository:elsewhere": Requirement(
        "A repository that leads git to contents of other folders (links, alternates, another `.git`) is asked about."
    ),
    "security:repository:bounded": Requirement(
        "Pipes, devices and links that go round neither hang a session nor lead it out of the project."
    ),
    "security:repository:own-words": Requirement(
        "Files of a project cannot leave out or silence the instructions of the user."
    ),
    "security:words:forged": Requirement(
        "Text from files, pages, servers, hooks and agents cannot pass for a word of this program."
    ),
    "security:server:any-output": Requirement(
        "Whatever a tool server sends or leaves unsaid costs its own calls at most; its words are data."
    ),
    "security:server:bounded": Requirement("Results, tools, changes and side output of a tool server are bounded."),
    "security:world:no-hang": Requirement(
        "Pipes, devices, links in circles, endless lines and commands that will not end keep nobody waiting."
    ),
    "security:world:names": Requirement("A file of any name is read, changed and found."),
    "security:world:bounded": Requirement(
        "Output and lists of any size take a bounded part of memory, disk and window."
    ),
    "security:world:survives": Requirement(
        "Without git, without room, without a home to write to or with a clock that goes back a session goes on, and "
        "says what it cannot do."
    ),
    "security:signals:end-the-group": Requirement(
        "A request to end and a closed terminal end the commands of tools and restore the terminal, as Ctrl-C does."
    ),
    "security:budget:hard-stop": Requirement(
        "Where a session may cost no more, its agents stop in the middle, and no clock changes that."
    ),
    "security:terminal:unsteered": Requirement(
        "Words of the model, of files and of servers cannot steer the terminal; a question shows what hides in them."
    ),
    "security:model:any-output": Requirement(
        "Whatever the model asks for, each call gets an answer and the session goes on."
    ),
    "security:keys:hidden": Requirement(
        "A key is neither in a transcript nor in what is sent, and files of a session are private."
    ),
    "security:crash:resumes": Requirement(
        "A session that is killed anywhere resumes with a valid history, no lost words and no doubled result."
    ),
}

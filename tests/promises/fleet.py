"""What jobs of the team server promise."""

from tests.promises import Requirement

PROMISES = {
    "fleet:once": Requirement(
        "a job takes effect once, however often and by however many workers it is started, and overwrites nothing that "
        "was pushed meanwhile"
    ),
    "fleet:paid-once": Requirement("an answer of a model that a job has paid for is not paid for again by a rerun"),
    "fleet:budget": Requirement("a job waits once the models of its tenant have cost the limit of a day, then goes on"),
    "fleet:approval": Requirement("a dream that goes too far changes nothing before somebody submits it with --yes"),
    "fleet:extraction": Requirement("extraction stores only what may be shared, and reads no session twice"),
    "fleet:failures": Requirement("a job that fails changes nothing, is retried where that helps, and says why"),
    "fleet:killed": Requirement(
        "jobs of workers that are killed are done by others; one job at a time works on a repository, and no more of a "
        "tenant than its limit"
    ),
    "fleet:commands": Requirement("errors of `reverie worker` name the next step"),
}

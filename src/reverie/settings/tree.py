"""`Settings`: the whole tree, every value with its default."""

from reverie.settings.area import area
from reverie.settings.bounds import AfterTrust, Language, Personal, Process
from reverie.settings.memory import (
    Age,
    Budget,
    Dream,
    Extraction,
    Index,
    Memory,
    Recall,
    Remote,
    Retention,
)
from reverie.settings.session import (
    Agent,
    Declaration,
    Hook,
    Instructions,
    Model,
    ModelProfile,
    Permissions,
    StatusLine,
    Tools,
    Ui,
)
from reverie.settings.window import (
    Cache,
    Clearing,
    Collapse,
    Compaction,
    Notes,
    Snip,
    Spill,
    Window,
)


@area
class Settings:
    """Every number and switch of the system. Made once at the top, then only read."""

    home: Process[str] = "~/.reverie"
    """Where everything lies that is not in the project (product §3)."""
    config_home: Process[str] = "~/.claude"
    """Where the user's existing agent keeps its files (spec 3 §10)."""
    project_dir_name: Process[str | None] = None
    """Name of the project's folder under `projects/` instead of the slug (spec 8 §1.2)."""
    simple_mode: Process[bool] = False
    """`--bare`: no memory and none of the other secondary features (spec 3 §10)."""
    language: Language | None = None
    """The language of answers; none leaves it to the conversation (spec 3 §4)."""
    output_style: AfterTrust[str | None] = None
    """How the agent writes: the name of a file in `output-styles/` (spec 8 §1.9)."""

    model: Model = Model()
    models: Personal[tuple[ModelProfile, ...]] = ()
    """Models of your own, by name (product §4)."""
    budget: Budget = Budget()

    window: Window = Window()
    spill: Spill = Spill()
    snip: Snip = Snip()
    clearing: Clearing = Clearing()
    collapse: Collapse = Collapse()
    notes: Notes = Notes()
    compaction: Compaction = Compaction()
    cache: Cache = Cache()

    memory: Memory = Memory()
    index: Index = Index()
    age: Age = Age()
    recall: Recall = Recall()
    extraction: Extraction = Extraction()
    dream: Dream = Dream()
    remote: Remote = Remote()
    retention: Retention = Retention()

    agent: Agent = Agent()
    agents: AfterTrust[tuple[Declaration, ...]] = ()
    """Agent definitions of each source, lowest source first (spec 4 §3)."""
    tools: Tools = Tools()
    hook: Hook = Hook()
    hooks: AfterTrust[tuple[Declaration, ...]] = ()
    """Hooks of each source, in the order in which they run (spec 3 §7.3)."""
    permissions: Permissions = Permissions()
    instructions: Instructions = Instructions()
    ui: Ui = Ui()
    status_line: StatusLine = StatusLine()

    def profile(self, name: str) -> ModelProfile | None:
        """The user's own description of a model, if there is one."""
        return next((profile for profile in self.models if profile.name == name), None)

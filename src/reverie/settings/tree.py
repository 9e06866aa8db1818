"""`Settings`: the whole tree, every value with its default."""

from reverie.settings.area import area
from reverie.settings.bounds import AfterTrust, Language, Personal, Process
from reverie.settings.memory import (
    AgeSettings,
    BudgetSettings,
    DreamSettings,
    ExtractionSettings,
    IndexSettings,
    MemorySettings,
    RecallSettings,
    RemoteSettings,
    RetentionSettings,
)
from reverie.settings.session import (
    AgentSettings,
    Declaration,
    HookSettings,
    InstructionsSettings,
    ModelProfile,
    ModelSettings,
    PermissionsSettings,
    StatusLineSettings,
    ToolsSettings,
    UiSettings,
)
from reverie.settings.window import (
    CacheSettings,
    ClearingSettings,
    CollapseSettings,
    CompactionSettings,
    NotesSettings,
    SnipSettings,
    SpillSettings,
    WindowSettings,
)


@area
class Settings:
    """Every number and switch of the system. Made once at the top, then only read."""

    home: Process[str] = "~/.reverie"
    """Where everything lies that is not in the project."""
    config_home: Process[str] = "~/.claude"
    """Where the user's existing agent keeps its files."""
    project_dir_name: Process[str | None] = None
    """Name of the project's folder under `projects/` instead of the slug."""
    simple_mode: Process[bool] = False
    """`--bare`: no memory and none of the other secondary features."""
    language: Language | None = None
    """The language of answers; none leaves it to the conversation."""
    output_style: AfterTrust[str | None] = None
    """How the agent writes: the name of a file in `output-styles/`."""

    model: ModelSettings = ModelSettings()
    models: Personal[tuple[ModelProfile, ...]] = ()
    """Models of your own, by name."""
    budget: BudgetSettings = BudgetSettings()

    window: WindowSettings = WindowSettings()
    spill: SpillSettings = SpillSettings()
    snip: SnipSettings = SnipSettings()
    clearing: ClearingSettings = ClearingSettings()
    collapse: CollapseSettings = CollapseSettings()
    notes: NotesSettings = NotesSettings()
    compaction: CompactionSettings = CompactionSettings()
    cache: CacheSettings = CacheSettings()

    memory: MemorySettings = MemorySettings()
    index: IndexSettings = IndexSettings()
    age: AgeSettings = AgeSettings()
    recall: RecallSettings = RecallSettings()
    extraction: ExtractionSettings = ExtractionSettings()
    dream: DreamSettings = DreamSettings()
    remote: RemoteSettings = RemoteSettings()
    retention: RetentionSettings = RetentionSettings()

    agent: AgentSettings = AgentSettings()
    agents: AfterTrust[tuple[Declaration, ...]] = ()
    """Agent definitions of each source, lowest source first."""
    tools: ToolsSettings = ToolsSettings()
    hook: HookSettings = HookSettings()
    hooks: AfterTrust[tuple[Declaration, ...]] = ()
    """Hooks of each source, in the order in which they run."""
    permissions: PermissionsSettings = PermissionsSettings()
    instructions: InstructionsSettings = InstructionsSettings()
    ui: UiSettings = UiSettings()
    status_line: StatusLineSettings = StatusLineSettings()

    def profile(self, name: str) -> ModelProfile | None:
        """The user's own description of a model, if there is one."""
        return next((profile for profile in self.models if profile.name == name), None)

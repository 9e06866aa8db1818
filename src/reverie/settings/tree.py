"""`Settings`: the whole tree, every value with its default."""

from reverie.settings.bounds import AfterTrust, Language, Personal, Process, area
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
    """Directory of all data outside the project."""
    config_home: Process[str] = "~/.claude"
    """Directory of the host agent's files."""
    project_dir_name: Process[str | None] = None
    """Name of the project's directory under `projects/` (default: derived from its path)."""
    simple_mode: Process[bool] = False
    """Minimal mode (`--bare`): no memory, no background work, no other optional features."""
    language: Language | None = None
    """Language of replies (default: that of the conversation)."""
    output_style: AfterTrust[str | None] = None
    """Output style: the name of a file in `output-styles/`."""

    model: ModelSettings = ModelSettings()
    models: Personal[tuple[ModelProfile, ...]] = ()
    """Custom models, by name."""
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
    """Agent definitions of all sources, lowest precedence first."""
    tools: ToolsSettings = ToolsSettings()
    hook: HookSettings = HookSettings()
    hooks: AfterTrust[tuple[Declaration, ...]] = ()
    """Hooks of all sources, in the order in which they run."""
    permissions: PermissionsSettings = PermissionsSettings()
    instructions: InstructionsSettings = InstructionsSettings()
    ui: UiSettings = UiSettings()
    status_line: StatusLineSettings = StatusLineSettings()

    def profile(self, name: str) -> ModelProfile | None:
        """The user's own description of a model, if there is one."""
        return next((profile for profile in self.models if profile.name == name), None)

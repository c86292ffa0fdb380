//! Variables of the environment, as settings and manual page name them.

/// Variables that change what the program does, and how.
pub(super) const VARIABLES: [(&str, &str); 16] = [
    ("STEPSCOPE_CONFIG_DIR", "Folder of config.toml, themes and schemas."),
    ("STEPSCOPE_STATE_DIR", "Folder of what is remembered: sort, filter, position, theme."),
    ("STEPSCOPE_REVIEWER", "Your name in reviews."),
    ("DOCINTEL_OUTPUT_DIR", "Folder that --docintel opens."),
    ("OLLAMA_HOST", "Address of the Ollama server."),
    ("OPENAI_BASE_URL", "Address of a server in the style of OpenAI."),
    ("ANTHROPIC_BASE_URL", "Address of the Anthropic server."),
    ("NO_COLOR", "If it is set, there are no colours."),
    ("FORCE_HYPERLINK", "0: places are no links; 1: they are, whatever the terminal."),
    ("COLORTERM", "truecolor: the terminal has 16 million colours."),
    ("TERM", "Name of the terminal."),
    ("LC_ALL", "Locale. If it is not UTF-8, only ASCII characters are used."),
    ("LC_CTYPE", "The same, without LC_ALL."),
    ("LANG", "The same, without both."),
    ("VISUAL", "Editor for values and notes."),
    ("EDITOR", "The same, without VISUAL."),
];

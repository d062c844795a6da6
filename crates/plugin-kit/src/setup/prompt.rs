//! Fills the values of the loop into the plugin's prompt.
//!
//! `{{workdir}}` is replaced by the plain value, `{{"workdir"}}` by the value in double quotes, escaped for a
//! shell: the form for commands. A missing value is `none`, or `""` in a command.
//!
//! A heading `## … <!-- not PLAN -->` begins a section that is left out in loops of this command: the model reads the
//! prompt in each of its calls.

use std::borrow::Cow;

use crate::config_env::ConfigEnv;
use crate::quoting::quote;
use crate::variables as var;

/// Placeholders of a prompt, each with its setting.
const NAMES: [(&str, &str); 5] = [
    ("workdir", var::WORKDIR),
    ("prd", var::PRD_FILE),
    ("plan_file", var::PLAN_FILE),
    ("repositories", var::REPO_MAP),
    ("command", var::COMMAND),
];

/// Beginning of a heading, and of the mark at its end.
const HEADING: &str = "## ";
const MARK: &str = " <!-- not ";
const MARK_END: &str = " -->";

/// Returns the prompt of a command, with the settings of the loop in place of the placeholders.
#[must_use]
pub fn render(template: &str, config: &ConfigEnv, command: Option<&str>) -> String {
    let mut text = for_command(template, command);
    for (name, setting) in NAMES {
        let value = if setting == var::COMMAND { command } else { config.get(setting) };
        text = text.replace(&format!("{{{{{name}}}}}"), value.unwrap_or("none"));
        text = text.replace(&format!("{{{{\"{name}\"}}}}"), &quote(value.unwrap_or_default()));
    }
    text
}

/// Removes the sections that do not apply to a command, and the marks of the others.
fn for_command(template: &str, command: Option<&str>) -> String {
    let mut is_kept = true;
    let kept = template.split_inclusive('\n').filter_map(|line| {
        if !line.starts_with(HEADING) {
            return is_kept.then_some(Cow::Borrowed(line));
        }
        let marked = line.trim_end().strip_suffix(MARK_END).and_then(|heading| heading.split_once(MARK));
        is_kept = marked.is_none_or(|(_, excluded)| command != Some(excluded));
        let heading = marked.map_or(Cow::Borrowed(line), |(heading, _)| format!("{heading}\n").into());
        is_kept.then_some(heading)
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_is_left_out_for_its_command() {
        let template =
            "# Prompt\n\n## One <!-- not PLAN -->\n\n1\n\n## Two <!-- not EXECUTE -->\n\n2\n\n## End\n";
        let text = |command| render(template, &ConfigEnv::default(), command);
        assert_eq!(text(Some("EXECUTE")), "# Prompt\n\n## One\n\n1\n\n## End\n");
        assert_eq!(text(Some("PLAN")), "# Prompt\n\n## Two\n\n2\n\n## End\n");
        assert_eq!(text(None), "# Prompt\n\n## One\n\n1\n\n## Two\n\n2\n\n## End\n");
    }

    #[test]
    fn placeholders_are_replaced_plain_and_quoted() {
        let mut config = ConfigEnv::default();
        config.set(var::WORKDIR, "/a/$x y");
        let text = render(
            "In {{workdir}}, {{prd}}: `plan {{\"workdir\"}} {{\"prd\"}}` {{command}}",
            &config,
            Some("PLAN"),
        );
        assert_eq!(text, r#"In /a/$x y, none: `plan "/a/\$x y" ""` PLAN"#);
    }
}

//! Fills the values of the loop into the plugin's prompt.
//!
//! `{{workdir}}` is replaced by the plain value, `{{"workdir"}}` by the value in double quotes, escaped for a
//! shell: the form for commands. A missing value is `none`, or `""` in a command.

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

/// Replaces the placeholders of a prompt by the settings of the loop.
#[must_use]
pub fn render(template: &str, config: &ConfigEnv, command: Option<&str>) -> String {
    let mut text = template.to_owned();
    for (name, setting) in NAMES {
        let value = if setting == var::COMMAND { command } else { config.get(setting) };
        text = text.replace(&format!("{{{{{name}}}}}"), value.unwrap_or("none"));
        text = text.replace(&format!("{{{{\"{name}\"}}}}"), &quote(value.unwrap_or_default()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

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

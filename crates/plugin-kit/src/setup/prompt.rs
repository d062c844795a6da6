//! The prompt as the model gets it: the plugin's text with the loop's values in it.
//!
//! `{{workdir}}` stands for the value as it is, `{{"workdir"}}` for the value in double quotes, escaped for the
//! shell: the form for commands. A value that the loop does not have is `none`, or `""` in a command.

use crate::config_env::ConfigEnv;
use crate::quoting::quote;
use crate::variables as var;

/// Names that a prompt can use, each with the setting that it stands for.
const NAMES: [(&str, &str); 5] = [
    ("workdir", var::WORKDIR),
    ("prd", var::PRD_FILE),
    ("plan_file", var::PLAN_FILE),
    ("repositories", var::REPO_MAP),
    ("command", var::COMMAND),
];

/// Fills in the values.
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
    fn values_are_plain_in_a_text_and_quoted_in_a_command() {
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

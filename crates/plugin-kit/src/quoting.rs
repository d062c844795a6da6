//! Double quotes as a POSIX shell reads them.
//!
//! One escape for the slash command's arguments and for `config.env`, so that a value with quotes,
//! dollars or backticks is data in either, even for a shell that evaluates it.

/// Wraps a value in double quotes and escapes what a shell would act on inside them.
pub fn quote(value: &str) -> String {
    let mut quoted = String::with_capacity(value.len() + 2);
    quoted.push('"');
    for c in value.chars() {
        if matches!(c, '\\' | '"' | '$' | '`') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}

/// Reads a value back: surrounding double quotes are removed and escapes undone. A value without
/// quotes is taken as it stands.
pub fn unquote(text: &str) -> String {
    let text = text.trim();
    let Some(inner) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return text.to_owned();
    };
    let mut value = String::with_capacity(inner.len());
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(&next) if c == '\\' && matches!(next, '\\' | '"' | '$' | '`') => {
                value.push(next);
                chars.next();
            }
            _ => value.push(c),
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_shell_acts_on_is_escaped() {
        assert_eq!(quote(r#"/a/My $HOME "x" `id` \"#), r#""/a/My \$HOME \"x\" \`id\` \\""#);
        assert_eq!(unquote("plain"), "plain");
        assert_eq!(unquote(r#""C:\new""#), r"C:\new");
    }

    proptest! {
        #[test]
        fn reading_undoes_quoting(value in "[^\n\r]{0,60}") {
            prop_assert_eq!(unquote(&quote(&value)), value);
        }
    }
}

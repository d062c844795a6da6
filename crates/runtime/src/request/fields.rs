//! Typed access to the members of a JSON object. Errors name the malformed member; `null` counts as absent.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::LoopRequestError;

/// Parses a body into its members.
///
/// Non-object JSON is treated as `{}`, so that the error names the first missing member. Falsy JSON (`null`,
/// `false`, `0`, `""`) and invalid JSON fail with 400 "Invalid JSON body".
pub(crate) fn members(body: &[u8]) -> Result<Map<String, Value>, LoopRequestError> {
    let value = serde_json::from_slice::<Value>(body).unwrap_or_default();
    // Clients rely on this distinction. It follows JavaScript, in which these values are falsy.
    let is_falsy = match &value {
        Value::Null => true,
        Value::Bool(yes) => !yes,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(_) | Value::Object(_) => false,
    };
    match value {
        Value::Object(members) => Ok(members),
        _ if is_falsy => Err(LoopRequestError::invalid_json()),
        _ => Ok(Map::new()),
    }
}

/// Members of a request body.
pub(super) struct Fields<'a>(pub &'a Map<String, Value>);

impl Fields<'_> {
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Returns a string member. Fails with 400 when the member has another type.
    pub fn text(&self, name: &str) -> Result<Option<String>, LoopRequestError> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => {
                Err(LoopRequestError::malformed(name, &format!("expected a string, got {}", kind(other))))
            }
        }
    }

    /// Returns a string member unless it is blank.
    pub fn non_blank(&self, name: &str) -> Result<Option<String>, LoopRequestError> {
        Ok(self.text(name)?.filter(|text| !text.trim().is_empty()))
    }

    pub fn object<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, LoopRequestError> {
        self.value(name).map(|value| read(name, "", without_nulls(value))).transpose()
    }

    pub fn list<T: DeserializeOwned>(&self, name: &str) -> Result<Vec<T>, LoopRequestError> {
        let items = match self.value(name) {
            None => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(other) => {
                return Err(LoopRequestError::malformed(
                    name,
                    &format!("expected an array, got {}", kind(other)),
                ));
            }
        };
        items
            .iter()
            .enumerate()
            .map(|(index, item)| read(name, &format!("{index}"), without_nulls(item)))
            .collect()
    }
}

fn read<T: DeserializeOwned>(name: &str, prefix: &str, value: Value) -> Result<T, LoopRequestError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let inner = error.path().to_string();
        let path = match (prefix, inner.as_str()) {
            ("", "." | "") => name.to_owned(),
            ("", inner) => inner.to_owned(),
            (prefix, "." | "") => prefix.to_owned(),
            (prefix, inner) => format!("{prefix}.{inner}"),
        };
        LoopRequestError::malformed(name, &format!("{path}: {}", error.inner()))
    })
}

/// Removes `null` members of an object, so that they deserialize as absent. Nested objects are unchanged:
/// they may be documents that are passed through.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let present = members.iter().filter(|(_, member)| !member.is_null());
            Value::Object(present.map(|(name, member)| (name.clone(), member.clone())).collect())
        }
        other => other.clone(),
    }
}

/// Returns the JSON type of a value for error messages.
pub(super) const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

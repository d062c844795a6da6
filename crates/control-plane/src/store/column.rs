//! Column types that the entities share.

use sea_orm::sea_query::{ArrayType, ColumnType, Nullable, StringLen, ValueType, ValueTypeErr};
use sea_orm::{
    ActiveValue, ColIdx, DbErr, IntoActiveValue, QueryResult, TryFromU64, TryGetError, TryGetable, Value,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// An enum stored under the name by which it travels, so a row reads like an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Word<T>(pub T);

/// What an enum must be able to do to be stored as a word.
pub trait Spelled: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {}

impl<T: Serialize + DeserializeOwned + Clone + Send + Sync + 'static> Spelled for T {}

fn spell(word: &impl Serialize) -> String {
    match serde_json::to_value(word) {
        Ok(serde_json::Value::String(text)) => text,
        _ => String::new(),
    }
}

fn read<T: Spelled>(text: &str) -> Option<T> {
    serde_json::from_value(serde_json::Value::String(text.to_owned())).ok()
}

impl<T: Spelled> From<Word<T>> for Value {
    fn from(word: Word<T>) -> Self {
        spell(&word.0).into()
    }
}

impl<T: Spelled> TryGetable for Word<T> {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
        let text = String::try_get_by(row, index)?;
        let unknown = || TryGetError::DbErr(DbErr::Type(format!("unknown stored word `{text}`")));
        read(&text).map(Self).ok_or_else(unknown)
    }
}

impl<T: Spelled> ValueType for Word<T> {
    fn try_from(value: Value) -> Result<Self, ValueTypeErr> {
        let text = <String as ValueType>::try_from(value)?;
        read(&text).map(Self).ok_or(ValueTypeErr)
    }

    fn type_name() -> String {
        "Word".to_owned()
    }

    fn array_type() -> ArrayType {
        ArrayType::String
    }

    fn column_type() -> ColumnType {
        ColumnType::String(StringLen::None)
    }
}

impl<T: Spelled> Nullable for Word<T> {
    fn null() -> Value {
        <String as Nullable>::null()
    }
}

impl<T: Spelled> TryFromU64 for Word<T> {
    fn try_from_u64(_: u64) -> Result<Self, DbErr> {
        Err(DbErr::ConvertFromU64("Word"))
    }
}

impl<T: Spelled> IntoActiveValue<Self> for Word<T> {
    fn into_active_value(self) -> ActiveValue<Self> {
        ActiveValue::Set(self)
    }
}

impl<T: Serialize> Serialize for Word<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

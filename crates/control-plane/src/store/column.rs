//! Column types that the entities share.

use sea_orm::sea_query::{ArrayType, ColumnType, Nullable, StringLen, ValueType, ValueTypeErr};
use sea_orm::{
    ActiveValue, ColIdx, DbErr, IntoActiveValue, QueryResult, TryFromU64, TryGetError, TryGetable, Value,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// An enum stored as text under its serialized name, so that rows and JSON use the same names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StoredEnum<T>(pub T);

/// An enum that serializes to a string.
pub trait EnumName: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {}

impl<T: Serialize + DeserializeOwned + Clone + Send + Sync + 'static> EnumName for T {}

fn name_of(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        _ => String::new(),
    }
}

fn parse_name<T: EnumName>(text: &str) -> Option<T> {
    serde_json::from_value(serde_json::Value::String(text.to_owned())).ok()
}

impl<T: EnumName> From<StoredEnum<T>> for Value {
    fn from(stored: StoredEnum<T>) -> Self {
        name_of(&stored.0).into()
    }
}

impl<T: EnumName> TryGetable for StoredEnum<T> {
    fn try_get_by<I: ColIdx>(row: &QueryResult, index: I) -> Result<Self, TryGetError> {
        let text = String::try_get_by(row, index)?;
        // A name from a newer version, or a row that was edited by hand.
        let error = || TryGetError::DbErr(DbErr::Type(format!("unknown enum value `{text}`")));
        parse_name(&text).map(Self).ok_or_else(error)
    }
}

impl<T: EnumName> ValueType for StoredEnum<T> {
    fn try_from(value: Value) -> Result<Self, ValueTypeErr> {
        let text = <String as ValueType>::try_from(value)?;
        parse_name(&text).map(Self).ok_or(ValueTypeErr)
    }

    fn type_name() -> String {
        "StoredEnum".to_owned()
    }

    fn array_type() -> ArrayType {
        ArrayType::String
    }

    fn column_type() -> ColumnType {
        ColumnType::String(StringLen::None)
    }
}

impl<T: EnumName> Nullable for StoredEnum<T> {
    fn null() -> Value {
        <String as Nullable>::null()
    }
}

impl<T: EnumName> TryFromU64 for StoredEnum<T> {
    fn try_from_u64(_: u64) -> Result<Self, DbErr> {
        // sea-orm requires this of primary keys; an enum is never an auto-increment value.
        Err(DbErr::ConvertFromU64("StoredEnum"))
    }
}

impl<T: EnumName> IntoActiveValue<Self> for StoredEnum<T> {
    fn into_active_value(self) -> ActiveValue<Self> {
        ActiveValue::Set(self)
    }
}

impl<T: Serialize> Serialize for StoredEnum<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

//! A minimal GraphQL executor over JSON values: fields, aliases, arguments, fragments and connections.
//!
//! Responses contain exactly the selected fields, because the CLI's decoders reject others. Arrays become
//! connections (`nodes`, `edges`, `pageInfo`, `totalCount`) where the selection names members of one.
//! Independent of the code host's types.

use std::collections::HashMap;

use graphql_parser::query::{
    Definition, Document, Field, FragmentDefinition, OperationDefinition, Selection, SelectionSet,
    TypeCondition, Value as Literal, VariableDefinition,
};
use serde_json::{Map, Value, json};

/// Arguments of a field with variables substituted.
pub(super) type FieldArguments = Map<String, Value>;

/// Result of resolving one field.
pub(super) enum FieldValue {
    /// A complete value, to which the selection is applied.
    Value(Value),
    /// An object whose fields are resolved individually.
    Object(GraphNode),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum GraphNode {
    /// Root of a query.
    Query,
    /// Root of a mutation.
    Mutation,
    /// A repository by its full name.
    Repository(String),
}

#[derive(Debug)]
pub(super) struct GraphError {
    /// Error type, for example `NOT_FOUND`.
    pub(super) kind: &'static str,
    pub(super) message: String,
}

impl GraphError {
    pub(super) fn not_found(message: String) -> Self {
        Self { kind: "NOT_FOUND", message }
    }

    pub(super) fn unprocessable(message: impl Into<String>) -> Self {
        Self { kind: "UNPROCESSABLE", message: message.into() }
    }
}

/// Resolver of a schema.
pub(super) trait Graph {
    /// Resolves a field. Unknown fields resolve to null.
    fn field(
        &mut self,
        on: &GraphNode,
        name: &str,
        arguments: &FieldArguments,
    ) -> Result<FieldValue, GraphError>;
}

/// Object types that type conditions distinguish. Conditions on other types (interfaces) always match.
const CONCRETE: [&str; 9] = [
    "User",
    "Bot",
    "Organization",
    "Team",
    "PullRequest",
    "Issue",
    "CheckRun",
    "StatusContext",
    "Repository",
];
/// Page size of connections without `first` or `last`.
const PAGE: usize = 100;

type Text = String;

struct QueryRun<'a, 'd, G> {
    graph: &'a mut G,
    fragments: HashMap<&'d str, &'d FragmentDefinition<'static, Text>>,
    variables: Map<String, Value>,
    errors: Vec<Value>,
}

/// Executes a query and returns the response body.
pub(super) fn execute(graph: &mut impl Graph, query: &str, variables: Map<String, Value>) -> Value {
    let document = match graphql_parser::parse_query::<Text>(query) {
        Ok(document) => document.into_static(),
        Err(error) => return json!({"errors": [{"message": format!("Parse error: {error}")}]}),
    };
    let Some((root, definitions, selection)) = operation(&document) else {
        return json!({"errors": [{"message": "A query attribute must be specified"}]});
    };
    let fragments = document
        .definitions
        .iter()
        .filter_map(|definition| match definition {
            Definition::Fragment(fragment) => Some((fragment.name.as_str(), fragment)),
            Definition::Operation(_) => None,
        })
        .collect();
    let mut run = QueryRun { graph, fragments, variables, errors: Vec::new() };
    for definition in definitions {
        run.default_variable(definition);
    }
    let mut data = Map::new();
    run.select_node(&root, selection, &mut Vec::new(), &mut data);
    let mut response = json!({"data": data});
    if !run.errors.is_empty() {
        response["errors"] = Value::Array(run.errors);
    }
    response
}

/// Returns the name of a query's operation, for the call log and for fault injection.
pub(super) fn operation_name(query: &str) -> Option<String> {
    let document = graphql_parser::parse_query::<Text>(query).ok()?;
    document.definitions.iter().find_map(|definition| match definition {
        Definition::Operation(OperationDefinition::Query(query)) => query.name.clone(),
        Definition::Operation(OperationDefinition::Mutation(mutation)) => mutation.name.clone(),
        _ => None,
    })
}

type Operation<'d> = (GraphNode, &'d [VariableDefinition<'static, Text>], &'d SelectionSet<'static, Text>);

fn operation<'d>(document: &'d Document<'static, Text>) -> Option<Operation<'d>> {
    document.definitions.iter().find_map(|definition| match definition {
        Definition::Operation(OperationDefinition::SelectionSet(set)) => {
            Some((GraphNode::Query, [].as_slice(), set))
        }
        Definition::Operation(OperationDefinition::Query(query)) => {
            Some((GraphNode::Query, query.variable_definitions.as_slice(), &query.selection_set))
        }
        Definition::Operation(OperationDefinition::Mutation(mutation)) => {
            Some((GraphNode::Mutation, mutation.variable_definitions.as_slice(), &mutation.selection_set))
        }
        _ => None,
    })
}

impl<'d, G: Graph> QueryRun<'_, 'd, G> {
    fn default_variable(&mut self, definition: &VariableDefinition<'static, Text>) {
        if let Some(default) = &definition.default_value
            && !self.variables.contains_key(&definition.name)
        {
            let value = self.literal(default);
            self.variables.insert(definition.name.clone(), value);
        }
    }

    fn select_node(
        &mut self,
        node: &GraphNode,
        selection: &'d SelectionSet<'static, Text>,
        path: &mut Vec<String>,
        into: &mut Map<String, Value>,
    ) {
        for field in self.fields(selection, None) {
            let key = field.alias.as_ref().unwrap_or(&field.name).clone();
            let arguments = self.arguments(field);
            path.push(key.clone());
            let value = match self.graph.field(node, &field.name, &arguments) {
                Ok(FieldValue::Value(value)) => self.select(&value, field, &arguments),
                Ok(FieldValue::Object(node)) => {
                    let mut members = Map::new();
                    self.select_node(&node, &field.selection_set, path, &mut members);
                    Value::Object(members)
                }
                Err(error) => {
                    // A failed field becomes null, and the others are still resolved.
                    self.errors.push(json!({"type": error.kind, "path": path, "message": error.message}));
                    Value::Null
                }
            };
            path.pop();
            into.insert(key, value);
        }
    }

    /// Applies a selection to a value.
    fn select(
        &mut self,
        value: &Value,
        field: &'d Field<'static, Text>,
        arguments: &FieldArguments,
    ) -> Value {
        if field.selection_set.items.is_empty() {
            return value.clone();
        }
        match value {
            // An array in the data is a connection or a plain list in the schema; only the selection shows
            // which.
            Value::Array(items) if self.selects_connection(&field.selection_set) => {
                self.connection(items, &field.selection_set, arguments)
            }
            Value::Array(items) => {
                items.iter().map(|item| self.select_object(item, &field.selection_set)).collect()
            }
            other => self.select_object(other, &field.selection_set),
        }
    }

    fn select_object(&mut self, value: &Value, selection: &'d SelectionSet<'static, Text>) -> Value {
        let Value::Object(members) = value else { return Value::Null };
        let type_name = members.get("__typename").and_then(Value::as_str).map(str::to_owned);
        let mut selected = Map::new();
        for field in self.fields(selection, type_name.as_deref()) {
            let key = field.alias.as_ref().unwrap_or(&field.name).clone();
            let arguments = self.arguments(field);
            let member = members.get(&field.name).unwrap_or(&Value::Null);
            let value = self.select(member, field, &arguments);
            selected.insert(key, value);
        }
        Value::Object(selected)
    }

    fn selects_connection(&self, selection: &'d SelectionSet<'static, Text>) -> bool {
        let names = ["nodes", "edges", "totalCount", "pageInfo"];
        self.fields(selection, None).iter().any(|field| names.contains(&field.name.as_str()))
    }

    fn connection(
        &mut self,
        items: &[Value],
        selection: &'d SelectionSet<'static, Text>,
        arguments: &FieldArguments,
    ) -> Value {
        let number = |name: &str| arguments.get(name).and_then(Value::as_u64).map(|n| n as usize);
        let cursor_argument = |name: &str| arguments.get(name).and_then(Value::as_str)?.parse::<usize>().ok();
        let after = cursor_argument("after").unwrap_or(0);
        // An item's cursor is its 1-based position.
        let before =
            cursor_argument("before").map_or(items.len(), |at| at.saturating_sub(1).min(items.len()));
        let (start, end) = match number("last") {
            Some(last) => (before.saturating_sub(last), before),
            None => (after.min(items.len()), (after + number("first").unwrap_or(PAGE)).min(items.len())),
        };
        let page = &items[start..end];
        let edges: Vec<Value> = page
            .iter()
            .enumerate()
            .map(|(at, node)| json!({"node": node, "cursor": (start + at + 1).to_string()}))
            .collect();
        let cursor = |at: usize| if page.is_empty() { Value::Null } else { json!(at.to_string()) };
        let connection = json!({
            "totalCount": items.len(), "nodes": page, "edges": edges,
            "pageInfo": {"hasNextPage": end < items.len(), "hasPreviousPage": start > 0,
                         "startCursor": cursor(start + 1), "endCursor": cursor(end)},
        });
        self.select_object(&connection, selection)
    }

    /// Collects the fields of a selection, with fragments whose type condition matches inlined.
    fn fields(
        &self,
        selection: &'d SelectionSet<'static, Text>,
        on: Option<&str>,
    ) -> Vec<&'d Field<'static, Text>> {
        let mut fields = Vec::new();
        for item in &selection.items {
            match item {
                Selection::Field(field) => fields.push(field),
                Selection::FragmentSpread(spread) => {
                    if let Some(fragment) = self.fragments.get(spread.fragment_name.as_str())
                        && condition_matches(Some(&fragment.type_condition), on)
                    {
                        fields.extend(self.fields(&fragment.selection_set, on));
                    }
                }
                Selection::InlineFragment(fragment) => {
                    if condition_matches(fragment.type_condition.as_ref(), on) {
                        fields.extend(self.fields(&fragment.selection_set, on));
                    }
                }
            }
        }
        fields
    }

    fn arguments(&self, field: &Field<'static, Text>) -> FieldArguments {
        field.arguments.iter().map(|(name, value)| (name.clone(), self.literal(value))).collect()
    }

    fn literal(&self, literal: &Literal<'static, Text>) -> Value {
        match literal {
            Literal::Variable(name) => self.variables.get(name).cloned().unwrap_or(Value::Null),
            Literal::Int(number) => json!(number.as_i64()),
            Literal::Float(number) => json!(number),
            Literal::String(text) => json!(text),
            Literal::Boolean(flag) => json!(flag),
            Literal::Null => Value::Null,
            Literal::Enum(name) => json!(name),
            Literal::List(items) => items.iter().map(|item| self.literal(item)).collect(),
            Literal::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), self.literal(value))).collect()
            }
        }
    }
}

fn condition_matches(condition: Option<&TypeCondition<'static, Text>>, on: Option<&str>) -> bool {
    match (condition, on) {
        // Without a `__typename` in the data, every fragment applies.
        (Some(TypeCondition::On(expected)), Some(actual)) => {
            expected == actual || !CONCRETE.contains(&expected.as_str())
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct SampleGraph;

    impl Graph for SampleGraph {
        fn field(
            &mut self,
            _: &GraphNode,
            name: &str,
            arguments: &FieldArguments,
        ) -> Result<FieldValue, GraphError> {
            match name {
                "repository" => Ok(FieldValue::Object(GraphNode::Repository("acme/shop".into()))),
                "items" => Ok(FieldValue::Value(
                    json!([{"__typename": "User", "login": "a", "size": 1}, {"login": "b"}]),
                )),
                "echo" => Ok(FieldValue::Value(json!(arguments))),
                _ => Err(GraphError::not_found(format!("no {name}"))),
            }
        }
    }

    #[test]
    fn response_contains_exactly_the_selected_fields() {
        let query =
            "query Q($n: Int = 1) { r: repository { items(first: $n) { ...list } echo(a: [X, true]) } }
                     fragment list on Items { totalCount nodes { ... on User { login } ... on Bot { size } }
                                              pageInfo { hasNextPage endCursor } }";
        assert_eq!(operation_name(query).as_deref(), Some("Q"));
        assert_eq!(
            execute(&mut SampleGraph, query, Map::new()),
            json!({"data": {"r": {
                "items": {"totalCount": 2, "nodes": [{"login": "a"}],
                          "pageInfo": {"hasNextPage": true, "endCursor": "1"}},
                "echo": {"a": ["X", true]}}}})
        );
    }

    #[test]
    fn next_page_starts_after_the_cursor() {
        let query = "{ items(first: 5, after: \"1\") { edges { cursor node { login } } } }";
        assert_eq!(
            execute(&mut SampleGraph, query, Map::new()),
            json!({"data": {"items": {"edges": [{"cursor": "2", "node": {"login": "b"}}]}}})
        );
    }

    #[test]
    fn error_reports_its_path_and_the_field_is_null() {
        let response = execute(&mut SampleGraph, "{ repository { x: missing { id } } }", Map::new());
        assert_eq!(response["data"], json!({"repository": {"x": null}}));
        assert_eq!(response["errors"][0]["path"], json!(["repository", "x"]));
        assert!(execute(&mut SampleGraph, "{ broken", Map::new())["errors"][0]["message"].is_string());
    }
}

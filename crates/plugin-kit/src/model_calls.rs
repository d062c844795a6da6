//! Questions to models that read nothing but their prompt: calls of the assistant without tools, a pool that asks several at
//! a time within one spending limit, and the stored answers from which an interrupted run continues.

mod answer_store;
mod call_text;
mod isolated_assistant;
mod pool;

pub use answer_store::{PromptAnswers, prompt_key};
pub use call_text::{MAX_ANSWER, correction, data_mark, mark_data, without_fence};
pub use isolated_assistant::{IsolatedAssistant, LimitWait, ModelQuestion, SharedPart};
pub use pool::{CallOutcome, CallPool, CallResult, NextStep, PooledCall, RejectedAnswer};

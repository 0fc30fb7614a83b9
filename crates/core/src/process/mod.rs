//! The process dialect: definitions, instances, execution logs and records, and the rules that hold for them.

mod decimal;
pub mod definition;
pub mod diagram;
pub mod engagement;
pub mod facts;
pub mod graph;
pub mod instance;
pub mod log;
pub mod machine;
pub mod principles;
pub mod prompt;
mod reader;
pub mod records;
pub mod result;
pub mod rules;
pub mod sla;
mod words;

pub use decimal::Decimal;
pub use decimal::NotADecimal;
pub use definition::Composition;
pub use definition::Definition;
pub use instance::Instance;
pub use words::Action;
pub use words::Capability;
pub use words::DecisionType;
pub use words::ExecutionStatus;
pub use words::FlowEvent;
pub use words::Invocation;
pub use words::ObservationType;
pub use words::Pattern;
pub use words::Purpose;
pub use words::Severity;
pub use words::SourceType;
pub use words::Status;
pub use words::StepStatus;
pub use words::Trust;

//! Tests of how the suite reads what an orchestrator did.

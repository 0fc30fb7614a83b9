//! The binary `seriatim`.

use std::process::ExitCode;

use seriatim_flows::registry::STANDARD;

fn main() -> ExitCode {
    seriatim::main_with(&STANDARD)
}

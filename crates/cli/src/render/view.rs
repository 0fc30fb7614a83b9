//! Sections of a run on the terminal.

use seriatim_core::sentence::Mood;
use seriatim_core::view::Block;
use seriatim_core::view::Section;

use crate::render::table::cut;
use crate::render::table::table;
use crate::ui::Tone;
use crate::ui::Ui;
use crate::ui::tone;

/// How wide a cell of a table gets.
const CELL_CHARS: usize = 70;
/// How many lines of an output are shown where nobody asked for more.
const TAIL: usize = 5;

/// Says a section.
pub(crate) fn say(ui: &Ui, section: &Section) {
    ui.say(format!("\n{}", tone(Tone::Strong, &section.title)));
    section.blocks.iter().for_each(|block| say_block(ui, block));
}

fn say_block(ui: &Ui, block: &Block) {
    match block {
        Block::Line { label, text, mood } => {
            let label = match mood {
                Mood::Neutral => tone(Tone::Faint, format!("{label}:")),
                Mood::Good => tone(Tone::Good, format!("{label}:")),
                Mood::Bad => tone(Tone::Bad, format!("{label}:")),
                Mood::Attention => tone(Tone::Attention, format!("{label}:")),
            };
            ui.say(format!("  {label} {text}"));
        }
        Block::Table { heading, rows } => {
            let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
            let short = |row: &Vec<String>| row.iter().map(|cell| cut(cell, CELL_CHARS)).collect();
            let rows: Vec<Vec<String>> = rows.iter().map(short).collect();
            table(&heading, &rows).lines().for_each(|line| ui.say(format!("  {line}")));
        }
        Block::Output { title, command, exit, text, brief } => {
            if !brief && !ui.verbose {
                return;
            }
            if !title.is_empty() {
                ui.say(format!("\n  {}", tone(Tone::Strong, title)));
            }
            if !command.is_empty() {
                let exit = exit.map_or_else(|| "no exit code".to_owned(), |code| format!("exit {code}"));
                ui.say(format!("    $ {command}  {}", tone(Tone::Faint, exit)));
            }
            say_output(ui, text);
        }
    }
}

/// Says the last lines of an output, or all of it where more was asked for.
fn say_output(ui: &Ui, text: &str) {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let from = if ui.verbose { 0 } else { lines.len().saturating_sub(TAIL) };
    if from > 0 {
        ui.say(format!("      {}", tone(Tone::Faint, format!("... {from} lines before (-v shows them)"))));
    }
    lines.iter().skip(from).for_each(|line| ui.say(format!("      {line}")));
}

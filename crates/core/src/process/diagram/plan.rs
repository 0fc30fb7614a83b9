//! Where everything of the picture stands on paper: whole units, no font measured.
//!
//! From left to right: the tracks of the ways back, the words on them, the steps, and what stands off the line. A
//! box is as high as its words, the words on the ways and the cards beside it need, so that all of them touch it
//! and none crosses another.

use super::Aside;
use super::Capability;
use super::Diagram;
use super::Station;
use super::lettering::wrap;
use super::text::destination;
use super::when;
use super::who;

pub(super) const MARGIN: u32 = 24;
pub(super) const TRACK: u32 = 18;
pub(super) const LABEL_WIDTH: u32 = 220;
pub(super) const BOX_WIDTH: u32 = 300;
pub(super) const CARD_GAP: u32 = 44;
pub(super) const CARD_WIDTH: u32 = 264;
pub(super) const ROW_GAP: u32 = 40;
/// From the top of a box to the way that enters it.
pub(super) const ENTRY: u32 = 18;
pub(super) const LINE_HEIGHT: u32 = 16;
pub(super) const NAME_HEIGHT: u32 = 19;
pub(super) const TITLE_HEIGHT: u32 = 26;

/// Letters of the small size that fit beside each other.
const LABEL_COLUMNS: usize = 32;
const CARD_COLUMNS: usize = 34;
const NAME_COLUMNS: usize = 27;
const META_COLUMNS: usize = 37;
const TITLE_COLUMNS: usize = 56;
const LINES_MAX: usize = 5;
const HEIGHT_MIN: u32 = 58;
const PADDING: u32 = 10;

/// The whole sheet.
pub(super) struct Plan {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) title: Vec<String>,
    /// The left edge of the boxes.
    pub(super) box_x: u32,
    pub(super) label_x: u32,
    pub(super) card_x: u32,
    pub(super) begin_y: u32,
    pub(super) end_y: u32,
    pub(super) rows: Vec<Row>,
}

/// One step and everything beside it.
pub(super) struct Row {
    pub(super) y: u32,
    pub(super) height: u32,
    pub(super) name: Vec<String>,
    pub(super) meta: Vec<String>,
    pub(super) labels: Vec<Label>,
    pub(super) cards: Vec<Card>,
}

/// The words on a way that leaves a step.
pub(super) struct Label {
    /// The index of the return.
    pub(super) way: usize,
    pub(super) lines: Vec<String>,
    /// Where the way leaves, below the words.
    pub(super) y: u32,
}

/// A card off the line.
pub(super) struct Card {
    pub(super) kind: CardKind,
    pub(super) title: Vec<String>,
    pub(super) lines: Vec<String>,
    pub(super) y: u32,
    pub(super) height: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CardKind {
    Fix,
    Defer,
    Block,
    Exit,
}

impl Plan {
    pub(super) fn of(diagram: &Diagram) -> Plan {
        let tracks = u32::try_from(diagram.tracks).unwrap_or(u32::MAX).saturating_mul(TRACK);
        let label_x = MARGIN + tracks + 8;
        let box_x = if diagram.returns.is_empty() { MARGIN } else { label_x + LABEL_WIDTH };
        let card_x = box_x + BOX_WIDTH + CARD_GAP;
        let has_cards = diagram.stations.iter().any(|s| !s.asides.is_empty());
        let title = wrap(&diagram.name, TITLE_COLUMNS, LINES_MAX);
        let begin_y = MARGIN + TITLE_HEIGHT * count(title.len()) + 34;
        let mut y = begin_y + ROW_GAP;
        let mut rows = vec![];
        for (index, station) in diagram.stations.iter().enumerate() {
            let row = Row::of(diagram, index, station, y);
            y += row.height + ROW_GAP;
            rows.push(row);
        }
        let right = if has_cards { card_x + CARD_WIDTH } else { box_x + BOX_WIDTH };
        // The title may be wider than a picture without anything beside its line.
        let title_width =
            title.iter().map(|line| count(super::lettering::width(line)) * 11).max().unwrap_or(0);
        Plan {
            width: right.max(MARGIN + title_width) + MARGIN,
            height: y + MARGIN,
            title,
            box_x,
            label_x,
            card_x,
            begin_y,
            end_y: y,
            rows,
        }
    }

    /// The middle of the line.
    pub(super) fn line_x(&self) -> u32 {
        self.box_x + BOX_WIDTH / 2
    }

    /// The place of a track; the first is next to the words.
    pub(super) fn track_x(&self, track: usize) -> u32 {
        (self.label_x - 8).saturating_sub(TRACK * count(track))
    }
}

impl Row {
    fn of(diagram: &Diagram, index: usize, station: &Station, y: u32) -> Row {
        let name = wrap(&format!("{} {}", station.id, station.name), NAME_COLUMNS, LINES_MAX);
        let mut meta =
            wrap(&format!("{} · {}", station.capability, who(station.pattern)), META_COLUMNS, LINES_MAX);
        for remark in &station.remarks {
            meta.extend(wrap(remark, META_COLUMNS, LINES_MAX));
        }
        let (labels, left) = labels(diagram, index, y);
        let (cards, right) = cards(station, y);
        let own = NAME_HEIGHT * count(name.len()) + LINE_HEIGHT * count(meta.len()) + 2 * PADDING;
        let height = own.max(left).max(right).max(HEIGHT_MIN);
        let mut row = Row { y, height, name, meta, labels, cards };
        row.center_cards(right);
        row
    }

    /// Cards that need less height than the box stand in its middle.
    fn center_cards(&mut self, needed: u32) {
        let shift = self.height.saturating_sub(needed) / 2;
        for card in &mut self.cards {
            card.y += shift;
        }
    }

    /// The height of the words in the box.
    pub(super) fn words_height(&self) -> u32 {
        NAME_HEIGHT * count(self.name.len()) + LINE_HEIGHT * count(self.meta.len())
    }
}

/// Words on the ways that leave a step, one below the other, and the height that they need.
fn labels(diagram: &Diagram, index: usize, top: u32) -> (Vec<Label>, u32) {
    let entered = diagram.returns.iter().any(|way| way.to == index);
    let mut height = if entered { ENTRY + PADDING } else { 2 };
    let mut labels = vec![];
    for (number, way) in diagram.returns.iter().enumerate() {
        for origin in way.origins.iter().filter(|o| o.from == index) {
            let bullet = if origin.reasons.len() > 1 { "• " } else { "" };
            let mut lines = vec![];
            for reason in &origin.reasons {
                lines.extend(wrap(&format!("{bullet}{}", reason.words()), LABEL_COLUMNS, LINES_MAX));
            }
            height += LINE_HEIGHT * count(lines.len()) + 6;
            labels.push(Label { way: number, lines, y: top + height });
            height += 10;
        }
    }
    (labels, height)
}

fn cards(station: &Station, top: u32) -> (Vec<Card>, u32) {
    let mut height = 0;
    let mut cards = vec![];
    for aside in &station.asides {
        let (kind, title, words) = match aside {
            Aside::Fix { id, name, pattern, invocation } => {
                let words = format!("fix, {}: {}", who(*pattern), when(*invocation));
                (CardKind::Fix, format!("{id} {name}"), words)
            }
            Aside::Defer { reason } => (CardKind::Defer, "DEFER: put off".to_owned(), reason.words()),
            Aside::Block { reason } => (CardKind::Block, "BLOCK: stopped".to_owned(), reason.words()),
            Aside::Exit { target, name, reason } => {
                (CardKind::Exit, format!("to {}", destination(target, name.as_deref())), reason.words())
            }
        };
        let title = wrap(&title, CARD_COLUMNS - 5, LINES_MAX);
        let lines = wrap(&words, CARD_COLUMNS, LINES_MAX);
        let own = LINE_HEIGHT * count(title.len() + lines.len()) + 2 * PADDING - 2;
        cards.push(Card { kind, title, lines, y: top + height, height: own });
        height += own + 8;
    }
    (cards, height.saturating_sub(8))
}

/// Whether a step is drawn with the mark of a decision.
pub(super) fn decides(station: &Station) -> bool {
    station.capability == Capability::Decide
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

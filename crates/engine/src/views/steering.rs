//! Which files of a view steer runs: the documents from which some dialect takes orders or the state of work, and what the
//! configuration names.

use std::collections::BTreeMap;

use seriatim_core::documents::CONFIGURATION;
use seriatim_core::documents::look_at;
use seriatim_core::world::ViewChange;
use seriatim_core::world::ViewFile;
use seriatim_core::world::ViewKind;

use crate::hands::views::Ignores;
use crate::hands::views::ViewDifference;
use crate::hands::views::ViewError;
use crate::hands::views::ViewOf;
use crate::hands::views::ViewSide;
use crate::perform::Hands;
use crate::reading::READ_BYTES_MAX;

/// Returns what a view changes, with a word at each file that steers runs. The version of the place counts as well as that
/// of the view: whoever empties a document has changed it, and whoever writes a new one has given an order.
pub(super) fn change(hands: &Hands, of: ViewOf<'_>, ignores: Ignores<'_>) -> Result<ViewChange, ViewError> {
    let seen = hands.views.change(of, ignores)?;
    let mut change = ViewChange { isolation: seen.isolation, files: seen.files, effects: seen.effects };
    let is_work = |file: &ViewFile| !file.ignored && file.kind != ViewKind::Special;
    if !change.files.iter().any(is_work) {
        return Ok(change);
    }
    let differences = hands.views.differences(of, ignores)?.into_iter();
    let sides: BTreeMap<String, [Option<ViewSide>; 2]> =
        differences.map(|ViewDifference { file, before, after }| (file.path, [before, after])).collect();
    for file in change.files.iter_mut().filter(|file| is_work(file)) {
        let both = sides.get(&file.path).into_iter().flatten().map(Option::as_ref);
        let by_document = both.chain([None]).map(|side| text(hands, side)).find_map(|bytes| {
            look_at(&file.path, &bytes, |look| hands.registry.steering(look)).map(|kind| kind.name)
        });
        // What the run itself pinned leaves out what other dialects are told.
        let by_name = || hands.config.names(&file.path).then_some(CONFIGURATION.name);
        file.steers = by_document.or_else(by_name).map(str::to_owned);
    }
    Ok(change)
}

/// The text of one side. What is absent, no file or larger than any document is known by its name alone.
fn text(hands: &Hands, side: Option<&ViewSide>) -> Vec<u8> {
    let Some(ViewSide::File { at, .. }) = side else { return vec![] };
    hands.files.read(at, READ_BYTES_MAX).map(|found| found.bytes).unwrap_or_default()
}

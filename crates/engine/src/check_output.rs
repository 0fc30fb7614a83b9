//! What a check printed and what it wrote: all of it is read before a part is kept, and only what this run wrote counts.

use std::path::Path;

use seriatim_core::gate;
use seriatim_core::gate::OutputQuery;
use seriatim_core::gate::OutputReading;

use crate::hands::files::Files;
use crate::hands::files::Links;
use crate::hands::files::Stamp;
use crate::hands::process::Ended;
use crate::reading::READ_BYTES_MAX;

/// A check may print this much before its output counts as cut off.
pub(crate) const CHECK_OUTPUT_BYTES_MAX: u64 = 64 << 20;

/// Reads what a check printed, also the part that is not kept with its outcome.
pub(crate) fn read_whole(
    files: &dyn Files,
    query: &OutputQuery,
    ended: &Ended,
    code: Option<i32>,
    reports: &[Option<String>],
) -> OutputReading {
    let rest = ended.overflow.as_ref().map(|file| files.read(file, CHECK_OUTPUT_BYTES_MAX + READ_BYTES_MAX));
    let lost = ended.cut() || rest.as_ref().is_some_and(Result::is_err);
    let rest = rest.and_then(Result::ok).map(|found| String::from_utf8_lossy(&found.bytes).into_owned());
    // Standard output goes on in the file, so that no line of it is torn.
    let whole = match rest {
        Some(rest) => format!("{}\n{}{rest}", ended.stderr, ended.stdout),
        None => format!("{}{}", ended.stdout, ended.stderr),
    };
    OutputReading { cut: lost, ..gate::read(query, &whole, code, reports) }
}

/// Files that may be reports, as they were before a check ran beside them.
pub(crate) struct ReportsBefore<'c> {
    paths: &'c [String],
    place: &'c Path,
    stamps: Vec<Option<Stamp>>,
}

impl<'c> ReportsBefore<'c> {
    pub(crate) fn of(files: &dyn Files, place: &'c Path, paths: &'c [String]) -> ReportsBefore<'c> {
        ReportsBefore { paths, place, stamps: stamps(files, place, paths) }
    }

    /// Reads the reports that were written since: those that are not as they were before.
    pub(crate) fn written(&self, files: &dyn Files) -> Vec<Option<String>> {
        let after = stamps(files, self.place, self.paths);
        let pairs = self.paths.iter().zip(self.stamps.iter().zip(after));
        pairs
            .map(|(path, (before, after))| {
                after.filter(|after| Some(*after) != *before)?;
                let found = files.read(&self.place.join(path), READ_BYTES_MAX).ok()?;
                String::from_utf8(found.bytes).ok()
            })
            .collect()
    }
}

fn stamps(files: &dyn Files, place: &Path, paths: &[String]) -> Vec<Option<Stamp>> {
    paths.iter().map(|path| files.stamp(&place.join(path), Links::Follow).ok().flatten()).collect()
}

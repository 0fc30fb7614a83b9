//! The scope of a role: what it may write, what is merged of it, and what is held against it.

use seriatim_core::action::Duty;
use seriatim_core::action::boundary;
use seriatim_core::action::boundary::Breach;
use seriatim_core::action::boundary::BreachKind;
use seriatim_core::action::paths;
use seriatim_core::action::trouble::Impacted;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::guard::scope::Changed;
use seriatim_core::guard::scope::Status;
use seriatim_core::world::Isolation;
use seriatim_core::world::ViewFile;
use seriatim_core::world::ViewKind;

use super::course::Course;
use super::duty::Shift;
use crate::Cx;
use crate::request::SceneCall;
use crate::request::SceneChange;
use crate::request::SceneKind;
use crate::views;
use crate::views::Left;
use crate::views::Rules;

impl Course {
    /// Merges what a call changed within the role's contract if the call is accepted, and returns what else it changed. In a
    /// view the work of a call that failed or is refused stays where it is, for the next call. Without one it is in the
    /// workspace already and is put back, whatever came of the call. A copy gets the work of a failed call, too: nothing of
    /// it reaches the workspace before the role passes, and whoever mends the files finds them there.
    pub(super) async fn merge_work(
        &self,
        cx: &Cx,
        shift: &mut Shift<'_>,
        succeeded: bool,
    ) -> Result<Vec<Breach>, Failure> {
        let duty = shift.duty;
        let takes = |file: &ViewFile| is_of(duty, file);
        let rules = Rules { takes: &takes, names: &|path| duty.names(path) };
        let (role, place, strays) = (&duty.role, &shift.turn.cwd, &shift.strays);
        // What cannot be judged is refused, and said when it is judged below.
        let accepts = |left: &Left| {
            breaches(duty, left).is_ok_and(|found| found.iter().all(|breach| strays.contains(&breach.path)))
        };
        let left = match (shift.copy.is_empty(), succeeded) {
            (false, _) => views::merge(cx, role, role, place, &rules).await?,
            (true, true) => views::merge_accepted(cx, role, role, place, &rules, accepts).await?,
            (true, false) => views::look(cx, role, role, place).await?,
        };
        if left.isolation == Isolation::None {
            return self.outside(cx, shift).await;
        }
        let mut outside = breaches(duty, &left)?;
        if succeeded {
            // What was merged or refused by now counts no more.
            let strays = std::mem::take(&mut shift.strays);
            outside.retain(|breach| !strays.contains(&breach.path));
            shift.refused = shift.copy.is_empty() && !outside.is_empty();
        } else if shift.copy.is_empty() {
            shift.strays.extend(outside.iter().map(|breach| breach.path.clone()));
        }
        Ok(outside)
    }

    /// Merges what a refused call left in its view within the contract: a person goes on with it.
    pub(super) async fn merge_refused(&self, cx: &Cx, shift: &mut Shift<'_>) -> Result<(), Failure> {
        if !std::mem::take(&mut shift.refused) {
            return Ok(());
        }
        let duty = shift.duty;
        let takes = |file: &ViewFile| is_of(duty, file);
        let rules = Rules { takes: &takes, names: &|path| duty.names(path) };
        views::merge(cx, &duty.role, &duty.role, &shift.turn.cwd, &rules).await.map(|_| ())
    }

    /// What the call changed although it must not, put back by now. Only the time of the call counts: what a person
    /// changed while a question was open is theirs. Nothing is lost: what is put back is kept elsewhere first, and what
    /// a person does by hand stays where it is.
    async fn outside(&self, cx: &Cx, shift: &Shift<'_>) -> Result<Vec<Breach>, Failure> {
        let (name, copy) = (shift.call_mark(), shift.copy.clone());
        let mut found: Vec<SceneChange> =
            cx.scene(SceneCall::Changes { name: name.clone(), copy: copy.clone() }).await?;
        found.retain(|change| !paths::is_own(&change.path));
        let mut outside = judge_scope(shift.duty, &changed(&found))?;
        if self.start.manual {
            // A person may do several roles' work in one go, and may take back what should not be there.
            let since: Vec<SceneChange> = cx.scene(SceneCall::Changes { name: shift.mark(), copy }).await?;
            let stands = |path: &str| since.iter().any(|change| change.path == path);
            let of_a_role = |path: &str| self.action.duties().any(|duty| duty.may_write(path));
            outside.retain(|breach| stands(&breach.path) && !of_a_role(&breach.path));
            return Ok(outside);
        }
        found.retain(|change| outside.iter().any(|breach| breach.path == change.path));
        if !found.is_empty() {
            self.keep_invalid(cx, shift, &found).await;
            let paths = outside.iter().map(|breach| breach.path.clone()).collect();
            let _: Result<(), _> = cx.scene(SceneCall::PutBack { name, copy, paths }).await;
        }
        Ok(outside)
    }
}

/// Fails where something was written outside of the contract.
pub(super) fn within_scope(shift: &mut Shift<'_>, outside: &[Breach]) -> Result<(), Failure> {
    if outside.is_empty() {
        return Ok(());
    }
    let impacted =
        |breach: &Breach| Impacted { path: breach.path.clone(), note: "not yours to write".into() };
    shift.artifacts = outside.iter().map(impacted).collect();
    let feedback = boundary::feedback(outside);
    let message = format!("it wrote where it must not: {}", feedback.join("; "));
    Err(Failure { feedback, ..Failure::new(Class::Scope, message) })
}

/// Whether a file of a view is the role's to write.
fn is_of(duty: &Duty, file: &ViewFile) -> bool {
    !paths::is_own(&file.path) && duty.may_write(&file.path)
}

/// Returns what was not merged of a view and lies outside of a role's contract, or steers runs.
fn breaches(duty: &Duty, left: &Left) -> Result<Vec<Breach>, Failure> {
    let kept: Vec<SceneChange> = left.kept.iter().filter_map(scene_change).collect();
    let mut found = judge_scope(duty, &changed(&kept))?;
    let steering = left.held.iter().filter(|path| !duty.names(path));
    let unknown: Vec<String> =
        steering.filter(|path| !found.iter().any(|breach| breach.path == **path)).cloned().collect();
    found.extend(unknown.into_iter().map(|path| Breach { path, kind: BreachKind::Steers }));
    Ok(found)
}

/// Returns what lies outside of a role's contract.
fn judge_scope(duty: &Duty, changes: &[Changed]) -> Result<Vec<Breach>, Failure> {
    boundary::judge(duty, changes).map_err(|problems| {
        let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Failure::new(Class::Contract, said.join("; "))
    })
}

/// A file of a view as the rules of scope know it; pipes and devices are never merged, and no matter of scope.
fn scene_change(file: &ViewFile) -> Option<SceneChange> {
    let kind = match file.kind {
        ViewKind::Added => SceneKind::Added,
        ViewKind::Modified => SceneKind::Modified,
        ViewKind::Deleted => SceneKind::Deleted,
        ViewKind::Mode => SceneKind::Mode,
        ViewKind::Special => return None,
    };
    Some(SceneChange { path: file.path.clone(), kind, target: file.target.clone(), ignored: file.ignored })
}

/// Changes as the rules of scope know them.
fn changed(changes: &[SceneChange]) -> Vec<Changed> {
    let of = |change: &SceneChange| {
        let status = match change.kind {
            SceneKind::Added => Status::Added,
            SceneKind::Deleted => Status::Deleted,
            SceneKind::Mode => Status::Mode,
            SceneKind::Modified => Status::Modified,
        };
        let mut changed = Changed::new(change.path.clone(), status);
        changed.symlink_target.clone_from(&change.target);
        changed.ignored = change.ignored;
        changed
    };
    changes.iter().map(of).collect()
}

//! What a probe lays out: actions, roles with their guides, and an agent that plays a part.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What every agent of the suite begins with: it writes down that it was called.
const AGENT: &str = include_str!("agent.sh");
/// What every action of the suite needs before it starts.
pub(super) const BLUEPRINT: &str = "planning-mds/BLUEPRINT.md";
const PROGRAM_MODE: u32 = 0o755;

/// A role: its name, and what it has to write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Role {
    pub(super) name: &'static str,
    pub(super) writes: &'static [&'static str],
}

/// An action: its name, what it is for, and its steps as the agent map writes them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Action {
    pub(super) name: &'static str,
    pub(super) purpose: &'static str,
    pub(super) steps: &'static [&'static str],
}

/// A workspace, and what its agents do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) roles: &'static [Role],
    pub(super) actions: &'static [Action],
    /// Further files, the path first.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// Further lines of the configuration.
    pub(super) config: &'static str,
    /// The part of the agent: a piece of shell that knows `$role` and `$n`, which call of that role it is.
    pub(super) play: &'static str,
}

impl Layout {
    /// A layout with one action; the rest is empty.
    pub(super) const PLAIN: Layout = Layout { roles: &[], actions: &[], files: &[], config: "", play: "" };

    /// Writes everything into the folder of a trial: the workspace below `work`, the agent and its log beside it.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let workspace = folder.join("work");
        for name in ["work", "calls", "said"] {
            fs::create_dir_all(folder.join(name))?;
        }
        let agent = folder.join("agent.sh");
        fs::write(&agent, AGENT)?;
        fs::set_permissions(&agent, fs::Permissions::from_mode(PROGRAM_MODE))?;
        fs::write(folder.join("play.sh"), self.play)?;
        put(&workspace, "seriatim.toml", &self.configuration(&agent))?;
        put(&workspace, "agents/agent-map.yaml", &self.map())?;
        put(&workspace, BLUEPRINT, "# Blueprint\n\nA small product.\n")?;
        let mut catalogue = "# Actions\n\n".to_owned();
        for Action { name, purpose, .. } in self.actions {
            line(&mut catalogue, &format!("- [{name}]({name}.md): {purpose}"));
            let text = format!("# Action: {name}\n\n## User Intent\n\n{purpose}.\n");
            put(&workspace, &format!("agents/actions/{name}.md"), &text)?;
        }
        put(&workspace, "agents/actions/README.md", &catalogue)?;
        for role in self.roles {
            put(&workspace, &guide_path(role.name), &guide(role.name, "Do what the action asks for."))?;
        }
        for (path, text) in self.files {
            put(&workspace, path, text)?;
        }
        Ok(())
    }

    fn configuration(&self, agent: &Path) -> String {
        // JSON and TOML write such a string in the same way.
        let text = |path: &Path| serde_json::Value::from(path.to_string_lossy().into_owned());
        // The agent keeps its list of calls beside itself, also where agents work in views.
        let beside = agent.parent().map(text).unwrap_or_default();
        let agent = text(agent);
        let table =
            format!("kind = \"command\"\nargv = [\"sh\", {agent}]\nenv = [\"PATH\"]\ntimeout = \"1m\"\n");
        format!("[agents.default]\n{table}\n[worlds]\nshare = [{beside}]\ndir = {beside}\n\n{}", self.config)
    }

    fn map(&self) -> String {
        let mut map = "agents:\n".to_owned();
        for Role { name, writes } in self.roles {
            let (guide, writes) = (guide_path(name), writes.join(", "));
            line(&mut map, &format!("  {name}: {{skill: {guide}, writes: [{writes}]}}"));
        }
        line(&mut map, "actions:");
        for Action { name, purpose, steps } in self.actions {
            line(
                &mut map,
                &format!("  {name}:\n    doc: agents/actions/{name}.md\n    description: {purpose}"),
            );
            line(&mut map, &format!("    prerequisites: [{BLUEPRINT}]\n    steps:"));
            for step in *steps {
                line(&mut map, &format!("      - {step}"));
            }
        }
        map
    }
}

pub(super) fn guide_path(role: &str) -> String {
    format!("agents/{role}/SKILL.md")
}

/// The guide of a role with these words in it.
pub(super) fn guide(role: &str, words: &str) -> String {
    format!("---\nname: {role}\ndescription: Does the work of the {role}\n---\n# {role}\n\n{words}\n")
}

/// Writes a file, with the folders it lies in.
pub(super) fn put(workspace: &Path, path: &str, text: &str) -> io::Result<()> {
    let path = workspace.join(path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}

fn line(text: &mut String, words: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{words}");
}

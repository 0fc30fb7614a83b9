//! The table of capabilities.

use super::*;

#[test]
fn ds_34_every_client_has_a_line_for_every_capability() {
    for client in Client::ALL {
        let capabilities = Capabilities::of(client, None);
        for capability in Capability::ALL {
            let lines = capabilities.facts.iter().filter(|fact| fact.capability == capability).count();
            assert_eq!(lines, 1, "{client} {capability:?}");
        }
    }
}

#[test]
fn ds_34_the_runtime_that_was_looked_at_first() {
    let claude = Capabilities::of(Client::Claude, Version::find("2.1.325 (Claude Code)"));
    for (capability, support) in [
        (Capability::StopHook, Support::Yes),
        (Capability::TimeLimit, Support::No),
        (Capability::Interrupt, Support::No),
        (Capability::Inject, Support::No),
        (Capability::TurnLimit, Support::No),
        (Capability::Transcript, Support::Yes),
        (Capability::BackgroundMonitoring, Support::Limited),
    ] {
        assert_eq!(claude.get(capability), support, "{capability:?}");
    }
    assert_eq!(claude.stop_blocks_max, Some(8));
}

#[test]
fn a_door_that_stays_shut_came_with_a_version() {
    let has = |text: &str| Capabilities::of(Client::Claude, Version::find(text)).has(Capability::OnFailure);
    assert!(has("2.1.295"));
    assert!(has("2.2.0"));
    assert!(!has("2.1.294"));
    assert!(!has("2.1.197 (Claude Code)"));
    // What is not known is not relied on.
    assert!(!has("unknown"));
    assert!(!Capabilities::of(Client::Codex, Version::find("codex-cli 0.166.0")).has(Capability::OnFailure));
}

/// K-21, K-22, DS-120: what a runtime lacks stands in the prompt.
#[test]
fn ds_120_limits_that_are_lacking_belong_in_the_prompt() {
    for client in Client::ALL {
        let limits: Vec<Capability> = Capabilities::of(client, None).for_prompt().collect();
        assert_eq!(limits, [Capability::TurnLimit, Capability::TimeLimit, Capability::Inject], "{client}");
    }
}

#[test]
fn versions_are_found_in_what_clients_print() {
    assert_eq!(Version::find("2.1.325 (Claude Code)"), Some(Version::new(2, 1, 325)));
    assert_eq!(Version::find("codex-cli 0.166.0\n"), Some(Version::new(0, 166, 0)));
    assert_eq!(Version::find("v0.61.0-preview.1"), Some(Version::new(0, 61, 0)));
    assert_eq!(Version::find("1.2"), None);
    assert_eq!(Version::find("99999999999.1.1"), None);
    assert_eq!(Version::find(""), None);
    assert!(Version::new(2, 1, 325) > Version::new(2, 1, 99));
    assert!(Capabilities::of(Client::Gemini, Some(Version::new(0, 62, 0))).is_beyond_what_was_seen());
    assert!(!Capabilities::of(Client::Gemini, Some(Version::new(0, 61, 0))).is_beyond_what_was_seen());
}

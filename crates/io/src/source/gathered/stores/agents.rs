//! Sessions of the `OpenAI` Agents SDK: the items of a conversation, one a row.

use super::super::coding::add_item;
use super::super::session::{AgentSession, SessionTurn};
use super::room::ValueRoom;
use super::rows::{groups, name_of, row_query};
use super::run_lines::RunLines;
use crate::source::sqlite::{Database, own};

/// Reads each session as a run.
pub(super) fn read(database: &Database, lines: &mut RunLines) -> rusqlite::Result<()> {
    const TABLE: &str = "agent_messages";
    let Some(sql) = row_query(database, TABLE, &["message_data"])? else { return Ok(()) };
    let mut statement = database.connection().prepare(&sql)?;
    for group in groups(database, TABLE, &["session_id"], "id", lines)? {
        if lines.is_full() {
            continue;
        }
        let mut session = AgentSession::new(group.key.first().and_then(name_of));
        let (mut room, mut thoughts) = (ValueRoom::default(), None);
        for row in group.rows {
            let mut rows = statement.query([row])?;
            let Some(text) = rows.next()?.and_then(|row| own(row, 0).text()) else { continue };
            let Some(item) = room.json(&text) else {
                session.left_out += 1;
                continue;
            };
            let model = item.get("provider_data").and_then(|data| data.get("model")).cloned();
            add_item(&item, SessionTurn { model, ..SessionTurn::default() }, &mut thoughts, &mut session);
        }
        lines.untold += session.untold;
        lines.put_session(&session, "openai_agents");
    }
    Ok(())
}

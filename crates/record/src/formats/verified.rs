//! A completion with its reward, as training runs save them (`cycle_N_verified.jsonl`), one per line.

use super::call::is_prompt;
use crate::format::Format;
use crate::{Record, RecordKind};
use stepscope_evidence::typed::flag;

/// See the module.
pub(crate) const FORMAT: Format = Format {
    id: "verified",
    example: r#"{"prompt": "2 + 3?", "completion": "5", "reward": 1.0, "success": true, "details": "Matched at offset 0"}"#,
    recognise: |value| {
        value.get("prompt").is_some_and(is_prompt)
            && ["completion", "reward"].into_iter().all(|key| value.get(key).is_some())
    },
    read: |value| Record {
        id: value.get("id"),
        question: value.get("prompt"),
        raw: value.get("completion"),
        correct: value.get("success").and_then(flag),
        reward: value.get("reward").filter(|reward| reward.is_number()),
        details: value.get("details"),
        round: value.get("cycle").filter(|cycle| cycle.is_number()),
        model: value.get("model"),
        ..Record::bare(RecordKind::Call, value)
    },
};

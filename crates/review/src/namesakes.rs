//! Records that share a name, as after `cat run1 run2`, found by it.

use foldhash::HashMap;

use super::event::{ItemRef, Text};
use super::fold::ItemReviews;
use super::name_group::NameGroup;
use stepscope_base::canonical::Digest;

/// Name of an item: its id, or its position where it has none; in one file, or (`None`) in any.
type GroupKey = (Option<Text>, Option<u64>, Option<Text>);

fn key(item: &ItemRef, file: Option<&Text>) -> GroupKey {
    (item.id.clone(), item.row_index.filter(|_| item.id.is_none()), file.cloned())
}

/// Records that share their names with others, by their names.
#[derive(Clone, Debug, Default)]
pub struct Namesakes(HashMap<GroupKey, NameGroup>);

impl Namesakes {
    /// Takes all records of one name, in their order, in place of those that were known of it.
    pub fn put<'r>(&mut self, records: impl IntoIterator<Item = (&'r ItemRef, &'r Digest)>) {
        let (mut all, mut named) = (NameGroup::default(), None);
        let mut files: HashMap<&Text, NameGroup> = HashMap::default();
        for (item, content) in records {
            if let Some(file) = &item.dataset {
                files.entry(file).or_default().push(item.row_index, *content);
            }
            all.push(item.row_index, *content);
            named = Some(item);
        }
        // What names no file is about those of all files.
        let groups = files.into_iter().map(|(file, group)| (Some(file), group)).chain([(None, all)]);
        let Some(item) = named else { return };
        for (file, group) in groups {
            if group.len() > 1 {
                self.0.insert(key(item, file), group);
            } else if !self.0.is_empty() {
                self.0.remove(&key(item, file));
            }
        }
    }

    /// Finds the records that an item may mean; `None`: there are no several.
    pub(super) fn group(&self, item: &ItemRef) -> Option<&NameGroup> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&key(item, item.dataset.as_ref()))
    }

    /// Chooses those reviews of a record's name that are about this record.
    pub fn choose<'r>(&'r self, found: ItemReviews<'r>, record: &'r ItemRef) -> Option<ItemReviews<'r>> {
        let Some(group) = self.group(&found.named()) else { return Some(found) };
        let own = found.of_several(record, group);
        own.events().next().is_some().then_some(own)
    }
}

//! Items of lists: their numbers and their depth.

use scraper::ElementRef;

use super::markdown::{ITEM_LETTERS, Item};
use super::output::{Output, beginning, letters};
use super::reference::{Part, Reference, around, has_class, parts};
use super::{Counter, Measure};

/// An item of a list on the page.
#[derive(Debug)]
pub(super) struct ListItem {
    /// The first letters of its own text.
    pub letters: String,
    place: Item,
}

/// Items with fewer letters are not told from others.
const MIN_LETTERS: usize = 4;

impl ListItem {
    /// Reads an element, if it is an item with text of its own.
    pub fn read(element: ElementRef<'_>) -> Option<ListItem> {
        let is_list = |outer: &ElementRef<'_>| matches!(outer.value().name(), "ul" | "ol" | "menu" | "dir");
        let list = around(element).next().filter(is_list)?;
        let in_table = around(element).any(|outer| matches!(outer.value().name(), "table" | "pre"));
        let is_code = has_class(list, |name| matches!(name, "linenums" | "code"));
        if element.value().name() != "li" || in_table || is_code {
            return None;
        }
        let letters = beginning(&letters(&own_text(element)), ITEM_LETTERS).to_owned();
        let depth = 1 + around(element).filter(|outer| outer.value().name() == "li").count();
        let number = (list.value().name() == "ol").then(|| number(list, element)).flatten();
        (letters.len() >= MIN_LETTERS).then_some(ListItem { letters, place: Item { depth, number } })
    }
}

/// The text before the first list, table or code in an item.
fn own_text(item: ElementRef<'_>) -> String {
    let is_end = |part: &Part<'_>| {
        let is_list = |name: &str| matches!(name, "ul" | "ol" | "dl" | "table" | "pre" | "menu" | "dir");
        matches!(part, Part::Open(inner) if is_list(inner.value().name()))
    };
    let own = parts(item).into_iter().take_while(|part| !is_end(part));
    own.filter_map(|part| if let Part::Text(text) = part { Some(text) } else { None }).collect()
}

/// The number that a browser shows before an item.
fn number(list: ElementRef<'_>, item: ElementRef<'_>) -> Option<u64> {
    let value = |element: ElementRef<'_>, name: &str| element.attr(name).and_then(|value| value.trim().parse().ok());
    if list.attr("reversed").is_some() {
        return None;
    }
    let mut next = value(list, "start").unwrap_or(1);
    for other in list.children().filter_map(ElementRef::wrap).filter(|child| child.value().name() == "li") {
        next = value(other, "value").unwrap_or(next);
        if other == item {
            return Some(next);
        }
        next += 1;
    }
    None
}

/// Shorter items stand anywhere.
const SHORT_LETTERS: usize = 15;

pub(super) fn compare(page: &Reference, output: &Output<'_>, counter: &mut Counter) {
    let Some(markdown) = &output.markdown else { return };
    for (index, item) in page.items.iter().enumerate() {
        // A heading has the words of the item of a menu that leads to it, and a short text stands anywhere: its neighbour
        // must stand beside it.
        let next = page.items.get(index + 1);
        let before = index.checked_sub(1).map(|before| &page.items[before]);
        let is_beside =
            |first: &ListItem, second: &ListItem| markdown.has_letters(&format!("{}{}", first.letters, second.letters));
        let has_neighbour = item.letters.len() >= SHORT_LETTERS
            || next.is_some_and(|next| is_beside(item, next))
            || before.is_some_and(|before| is_beside(before, item))
            || page.items.len() == 1;
        let kept = has_neighbour && markdown.has_letters(&item.letters) && !markdown.headings.contains(&item.letters);
        let found = markdown.items.get(&item.letters).map_or([].as_slice(), Vec::as_slice);
        if let Some(number) = item.place.number {
            let right = found.iter().any(|found| found.number == Some(number));
            counter.count(Measure::OrderedItems, kept, right, &format!("{number}. {}", item.letters));
        }
        if item.place.depth > 1 {
            let right = found.iter().any(|found| found.depth == item.place.depth);
            counter.count(Measure::NestedItems, kept, right, &format!("depth {}: {}", item.place.depth, item.letters));
        }
    }
}

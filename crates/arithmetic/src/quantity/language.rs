//! Questions whose numbers can be read: English ones, with numbers as English writes them.

/// Words of nearly every English question, and of few in other languages.
const ENGLISH: &[&str] = stepscope_base::list![
    the of how many much is are was were and for each every he she his her they their it what if with does did on has have
    had will at then than that this there who when after left total more
];
/// Texts of fewer words tell no language.
const FEW: usize = 5;

/// Tells whether the numbers of a question can be read. Of others nothing is said: "trois" is no word for three here,
/// and 1 250 000 would be three numbers.
pub fn is_read(question: &[u8]) -> bool {
    let text = String::from_utf8_lossy(question);
    let words = || text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.contains(char::is_alphabetic));
    let is_english = |word: &str| ENGLISH.contains(&word.to_lowercase().as_str());
    let is_foreign = || words().count() >= FEW || words().any(|word| !word.is_ascii());
    (words().any(is_english) || !is_foreign()) && !has_other_groups(question)
}

/// Tells whether digits are grouped otherwise than by commas in threes: `1 250 000`, `1'250`, `1,00,000`, `1.299,50`.
fn has_other_groups(text: &[u8]) -> bool {
    let digits = |from: usize| text.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = 0;
    while at < text.len() {
        let first = digits(at);
        if first == 0 {
            at += 1;
            continue;
        }
        let mut end = at + first;
        let mut groups: Vec<(u8, usize)> = Vec::new();
        while let Some(sign) = text.get(end).copied().filter(|sign| matches!(sign, b' ' | b'\'' | b',' | b'.')) {
            let len = digits(end + 1);
            if len == 0 {
                break;
            }
            groups.push((sign, len));
            end += 1 + len;
        }
        let is_other = match groups.as_slice() {
            [(b' ', 3), (b' ', 3), ..] | [(b'\'', 3), ..] | [(b',', 2), (b',', 2 | 3), ..] => (1..=3).contains(&first),
            [(b'.', 3), (b',', _), ..] => true,
            _ => false,
        };
        if is_other {
            return true;
        }
        at = end;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::is_read;

    #[test]
    fn english_numbers_in_english_questions_are_read() {
        for text in
            ["Sue has 1,250,000 crowns and 3 cows. How many legs?", "2 + 3?", "24 apples at 40 each?", "Add 1,2,3."]
        {
            assert!(is_read(text.as_bytes()), "{text}");
        }
        for text in [
            "Il achète trois pommes à 2 euros. Combien paie-t-il ?",
            "El compra doce manzanas por 24 euros.",
            "他有12个苹果,吃了3个。还剩几个?",
            "A town has 1 250 000 people. How many?",
            "She pays €1.299,50 and has 3. What is left?",
            "It is shared: 1,00,000 by 4 people. How much each?",
        ] {
            assert!(!is_read(text.as_bytes()), "{text}");
        }
    }
}

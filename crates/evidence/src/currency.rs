//! Currencies as ISO 4217 names them: list one (in use, with funds, metals and codes for testing) and list three (of
//! the past: old documents name them rightly).

/// In use.
const CURRENT: &str = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN \
    BZD CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS \
    GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK \
    LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB \
    PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS \
    TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAD XAF XAG XAU XBA XBB XBC XBD \
    XCD XCG XDR XOF XPD XPF XPT XSU XTS XUA XXX YER ZAR ZMW ZWG";

/// Of the past.
const FORMER: &str = "ADP AFA ALK ANG AOK AON AOR ARA ARP ARY ATS AYM AZM BAD BEC BEF BEL BGJ BGK BGL BGN BOP BRB BRC \
    BRE BRN BRR BUK BYB BYR CHC CSD CSJ CSK CUC CYP DDM DEM ECS ECV EEK ESA ESB ESP FIM FRF GEK GHC GHP GNE GNS GQE \
    GRD GWE GWP HRD HRK IEP ILP ILR ISJ ITL LAJ LSM LTL LTT LUC LUF LUL LVL LVR MGF MLF MRO MTL MTP MVQ MXP MZE MZM \
    NIC NLG PEH PEI PES PLZ PTE RHD ROK ROL RUR SDD SDP SIT SKK SLL SRG STD SUR TJR TMM TPE TRL UAK UGS UGW USS UYN \
    UYP VEB VEF VNC XEU XFO XFU XRE YDD YUD YUM YUN ZAL ZMK ZRN ZRZ ZWC ZWD ZWL ZWN ZWR";

/// Tells whether a text is the code of a currency, of today or of the past.
pub fn is_code(text: &[u8]) -> bool {
    let stands_in = |list: &str| list.as_bytes().chunks(4).any(|code| code.get(..3) == Some(text));
    text.len() == 3 && (stands_in(CURRENT) || stands_in(FORMER))
}

/// Codes that a sign can mean, the likeliest first.
const SIGNS: &[(char, &[&str])] = &[
    (
        '$',
        &[
            "USD", "CAD", "AUD", "NZD", "HKD", "SGD", "TWD", "MXN", "ARS", "CLP", "COP", "BBD", "BSD", "JMD", "TTD",
            "XCD",
        ],
    ),
    ('€', &["EUR"]),
    ('£', &["GBP", "EGP", "GIP", "FKP", "SHP", "LBP", "SYP", "IEP", "SDG"]),
    ('¥', &["JPY", "CNY"]),
    ('￥', &["JPY", "CNY"]),
    ('₹', &["INR"]),
    ('₩', &["KRW"]),
    ('₽', &["RUB"]),
    ('₺', &["TRY"]),
    ('₪', &["ILS"]),
    ('₴', &["UAH"]),
    ('₫', &["VND"]),
    ('₦', &["NGN"]),
    ('฿', &["THB"]),
    ('₱', &["PHP"]),
    ('₸', &["KZT"]),
    ('₲', &["PYG"]),
    ('₵', &["GHS"]),
    ('₡', &["CRC"]),
    ('৳', &["BDT"]),
    ('₾', &["GEL"]),
    ('﷼', &["IRR", "SAR", "QAR", "OMR", "YER"]),
];

/// Letters in front of a dollar sign.
const DOLLARS: [(&str, &[&str]); 14] = [
    ("US", &["USD"]),
    ("U.S.", &["USD"]),
    ("S", &["SGD"]),
    ("A", &["AUD"]),
    ("AU", &["AUD"]),
    ("C", &["CAD"]),
    ("CA", &["CAD"]),
    ("CAN", &["CAD"]),
    ("HK", &["HKD"]),
    ("NZ", &["NZD"]),
    ("NT", &["TWD"]),
    ("R", &["BRL"]),
    ("MX", &["MXN"]),
    ("J", &["JMD"]),
];

/// Words that name a currency, in small letters.
const NAMES: &[(&str, &[&str])] = &[
    ("euro euros eur euroa eurų eiro eurů евро євро ευρώ يورو אירו ユーロ 欧元 유로", &["EUR"]),
    (
        "dollar dollars bucks dólar dólares dolar dolares dollari dollaro dolarów доллар доллара долларов доларів دولار ドル 美元 달러",
        &["USD", "CAD", "AUD", "NZD", "HKD", "SGD", "TWD"],
    ),
    ("pound pounds sterling stg", &["GBP", "EGP", "GIP", "IEP", "LBP"]),
    ("yen 円", &["JPY"]),
    ("yuan rmb renminbi 元 圆 人民币", &["CNY", "TWD", "HKD"]),
    ("圓", &["JPY", "TWD", "HKD", "CNY"]),
    ("franc francs", &["CHF", "FRF", "BEF", "LUF", "XAF", "XOF"]),
    ("franken sfr fr stutz", &["CHF"]),
    ("rupee rupees rs रुपये रुपए रुपया रु", &["INR", "PKR", "LKR", "NPR", "MUR"]),
    ("kr krone kroner kronor krona", &["SEK", "NOK", "DKK", "ISK"]),
    ("zloty zlotys zł złotych złote złoty", &["PLN"]),
    ("koruna koruny korun kč", &["CZK", "SKK"]),
    ("forint ft", &["HUF"]),
    ("rand", &["ZAR"]),
    ("peso pesos", &["MXN", "ARS", "CLP", "COP", "PHP"]),
    ("real reais", &["BRL"]),
    ("rouble roubles ruble rubles руб рубль рубля рублей", &["RUB", "BYN"]),
    ("грн гривня гривні гривень", &["UAH"]),
    ("lira liras", &["TRY", "ITL"]),
    ("tl", &["TRY"]),
    ("shekel shekels שקל שקלים", &["ILS"]),
    ("won 원", &["KRW"]),
    ("dirham dirhams درهم", &["AED", "MAD"]),
    ("riyal riyals ريال", &["SAR", "QAR", "OMR", "YER", "IRR"]),
    ("dinar dinars دينار", &["KWD", "JOD", "BHD", "TND", "IQD", "DZD", "LYD", "RSD"]),
    ("جنيه", &["EGP", "SDG"]),
    ("baht บาท", &["THB"]),
    ("đồng vnđ", &["VND"]),
    ("rupiah rp", &["IDR"]),
    ("ringgit", &["MYR"]),
    ("টাকা taka", &["BDT"]),
    ("lei leu", &["RON", "MDL"]),
    ("лв лева", &["BGN"]),
    ("libras sterline", &["GBP", "EGP"]),
    ("soles", &["PEN"]),
    ("mark", &["DEM"]),
];

/// Countries whose name stands before that of a currency: `Canadian dollars`.
const COUNTRIES: [(&str, &str, &str); 19] = [
    ("us", "dollar", "USD"),
    ("american", "dollar", "USD"),
    ("canadian", "dollar", "CAD"),
    ("australian", "dollar", "AUD"),
    ("singapore", "dollar", "SGD"),
    ("swiss", "franc", "CHF"),
    ("schweizer", "franken", "CHF"),
    ("suisse", "franc", "CHF"),
    ("suisses", "franc", "CHF"),
    ("french", "franc", "FRF"),
    ("français", "franc", "FRF"),
    ("belges", "franc", "BEF"),
    ("indian", "rupee", "INR"),
    ("swedish", "kron", "SEK"),
    ("norwegian", "kron", "NOK"),
    ("danish", "kron", "DKK"),
    ("pounds", "sterling", "GBP"),
    ("pound", "sterling", "GBP"),
    ("british", "pound", "GBP"),
];

/// The code in the list that equals a text.
fn listed(text: &str) -> Option<&'static str> {
    CURRENT.split(' ').chain(FORMER.split(' ')).find(|code| *code == text)
}

/// The codes and the scale that a sign means with the letters right before it, and whether it takes these: `$`, `US$`, `k€`.
pub(crate) fn symbol(sign: char, before: Option<&str>) -> Option<(&'static [&'static str], Option<i64>, bool)> {
    let (_, codes) = SIGNS.iter().find(|(known, _)| *known == sign)?;
    let Some(letters) = before else { return Some((codes, None, false)) };
    if sign == '$'
        && let Some((_, codes)) = DOLLARS.iter().find(|(known, _)| *known == letters)
    {
        return Some((codes, None, true));
    }
    match letters {
        "k" | "K" | "T" => Some((codes, Some(1_000), true)),
        "M" | "m" | "Mio" => Some((codes, Some(1_000_000), true)),
        "CN" if sign == '¥' => Some((&["CNY"], None, true)),
        _ => Some((codes, None, false)),
    }
}

/// The codes and the scale that a word means: `EUR`, `kEUR`, `euros`, `pence`.
pub fn word(text: &str) -> Option<(Vec<&'static str>, Option<i64>)> {
    if let Some(code) = listed(text) {
        return Some((vec![code], None));
    }
    let scaled = |prefix: &str, scale| Some((vec![listed(text.strip_prefix(prefix)?)?], Some(scale)));
    if text.len() == 4
        && let Some(found) = scaled("k", 1_000).or_else(|| scaled("T", 1_000)).or_else(|| scaled("M", 1_000_000))
    {
        return Some(found);
    }
    let lower = text.to_lowercase();
    let (_, codes) = NAMES.iter().find(|(names, _)| names.split(' ').any(|name| name == lower))?;
    Some((codes.to_vec(), None))
}

/// The code of a currency with the name of its country, in small letters.
pub(crate) fn of_country(country: &str, noun: &str) -> Option<&'static str> {
    COUNTRIES.iter().find(|(known, stem, _)| *known == country && noun.starts_with(stem)).map(|(.., code)| *code)
}

/// The code that was probably meant: `usd`, `US$`, `€`, `Euro`.
pub fn meant(text: &str) -> Option<&'static str> {
    const MEANT: [(&str, &[&str]); 9] = [
        ("USD", &["$", "US$", "US DOLLAR", "US DOLLARS", "U.S. DOLLARS", "DOLLAR", "DOLLARS", "BUCKS"]),
        ("EUR", &["€", "EURO", "EUROS"]),
        ("GBP", &["£", "POUND", "POUNDS", "POUND STERLING", "STG", "UKP"]),
        ("CNY", &["RMB", "CN¥", "YUAN"]),
        ("JPY", &["¥", "YEN"]),
        ("CHF", &["SFR", "FR.", "SWISS FRANC", "SWISS FRANCS"]),
        ("INR", &["₹", "RS", "RS.", "RUPEES"]),
        ("TWD", &["NTD", "NT$"]),
        ("CAD", &["C$", "CA$", "CDN"]),
    ];
    let upper = text.trim().to_uppercase();
    listed(&upper).or_else(|| MEANT.iter().find(|(_, names)| names.contains(&upper.as_str())).map(|(code, _)| *code))
}

/// The currencies that the signs and words of a text can mean, each as its codes. Words that are mostly others are none.
pub fn marks(text: &str) -> Vec<Vec<&'static str>> {
    const OTHERS: [&str; 22] = [
        "Ft", "ft", "mark", "Mark", "fr", "Fr", "won", "real", "rand", "kr", "pound", "pounds", "lei", "Lei", "leu",
        "tl", "rp", "Rp", "soles", "Soles", "libras", "eur",
    ];
    let signs = text.char_indices().filter_map(|(at, c)| {
        // "R$", "NT$"
        let before = &text[..at];
        let letters = &before[before.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len()..];
        Some(symbol(c, Some(letters).filter(|letters| !letters.is_empty()))?.0.to_vec())
    });
    let words: Vec<&str> = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).collect();
    let named = words.iter().enumerate().filter_map(|(n, raw)| {
        let near = [n.checked_sub(1), Some(n + 1)].into_iter().flatten().filter_map(|at| words.get(at));
        let noun = raw.to_lowercase();
        // "Swiss francs", "francs suisses"
        let of_country = near.into_iter().find_map(|country| of_country(&country.to_lowercase(), &noun));
        let codes = || word(raw).map(|(codes, _)| codes).filter(|_| !OTHERS.contains(raw));
        of_country.map(|code| vec![code]).or_else(codes)
    });
    signs.chain(named).collect()
}

/// Tells whether a text has a number and a currency, as an amount does that a person writes.
pub fn is_amount(text: &str) -> bool {
    let is_apart = |c: char| c.is_ascii_digit() || c.is_whitespace() || "/,;()".contains(c);
    let is_currency = |word: &str| is_code(word.as_bytes()) || meant(word).is_some();
    text.bytes().any(|byte| byte.is_ascii_digit()) && text.split(is_apart).any(is_currency)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_has_a_number_and_a_currency() {
        for text in ["500 EUR", "eur 1,200.50", "€500", "US$ 5", "84.5 EUR/month", "-3 DEM (per claim)", "7 pounds"] {
            assert!(is_amount(text), "{text}");
        }
        for text in ["abc", "500", "EUR", "500 florin", ""] {
            assert!(!is_amount(text), "{text}");
        }
    }

    #[test]
    fn codes_are_three_capitals_of_the_list() {
        for code in ["USD", "EUR", "XXX", "ZWG", "AED", "DEM", "ZWR"] {
            assert!(is_code(code.as_bytes()), "{code}");
        }
        for text in ["usd", "US$", "", "SD ", "D A", "EURO", "XYZ", "BTC", " AE"] {
            assert!(!is_code(text.as_bytes()), "{text}");
        }
        assert_eq!((meant(" eur "), meant("US$"), meant("florin")), (Some("EUR"), Some("USD"), None));
    }

    #[test]
    fn the_lists_hold_codes_and_single_blanks() {
        for list in [CURRENT, FORMER] {
            assert!(list.split(' ').all(|code| code.len() == 3 && code.bytes().all(|b| b.is_ascii_uppercase())));
        }
        assert_eq!(CURRENT.split(' ').count(), 178);
    }
}

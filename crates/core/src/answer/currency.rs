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
pub(crate) fn is_code(text: &[u8]) -> bool {
    let stands_in = |list: &str| list.as_bytes().chunks(4).any(|code| code.get(..3) == Some(text));
    text.len() == 3 && (stands_in(CURRENT) || stands_in(FORMER))
}

/// The code that was probably meant: `usd`, `US$`, `€`, `Euro`.
pub(crate) fn meant(text: &str) -> Option<&'static str> {
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
    let code = CURRENT.split(' ').find(|code| *code == upper);
    code.or_else(|| MEANT.iter().find(|(_, names)| names.contains(&upper.as_str())).map(|(code, _)| *code))
}

/// Tells whether a text has a number and a currency, as an amount does that a person writes.
pub(crate) fn is_amount(text: &str) -> bool {
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

use super::*;

fn read(text: &str) -> Vec<String> {
    let convention = Convention::of([text]);
    figures(text, convention)
        .iter()
        .filter(|figure| figure.role == FigureRole::Value)
        .map(|figure| {
            let values: Vec<String> = figure.values().iter().map(Number::to_string).collect();
            let currency = figure.currency.first().copied().unwrap_or_default();
            let mark = if figure.percent { "%" } else { currency };
            format!("{} {mark}", values.join("|")).trim_end().to_owned()
        })
        .collect()
}

#[test]
fn five_conventions_of_thousands_are_one_number() {
    for text in
        ["EUR 1,250.50", "EUR 1.250,50", "EUR 1 250,50", "EUR 1\u{a0}250,50", "EUR 1'250.50", "1.250,50 €", "€1,250.50"]
    {
        assert_eq!(read(text), ["1250.5 EUR"], "{text}");
    }
    assert_eq!(read("Der Preis ist 1.250 EUR."), ["1250 EUR"]);
    assert_eq!(read("The price is USD 1,250."), ["1250 USD"]);
    assert_eq!(read("₹12,50,000"), ["1250000 INR"]);
    assert_eq!(read("Der Preis ist 12,50 EUR."), ["12.5 EUR"]);
}

#[test]
fn scales_and_marks_stand_before_and_behind() {
    for (text, value) in [
        ("EUR 400 million", "400000000 EUR"),
        ("kEUR 12", "12000 EUR"),
        ("12 TEUR", "12000 EUR"),
        ("$5k", "5000 USD"),
        ("£2.5m", "2500000 GBP"),
        ("3 Mio. EUR", "3000000 EUR"),
        ("87,8 millions d'euros", "87800000 EUR"),
        ("five hundred pounds", "500 GBP"),
        ("zweihundertfünfzig Euro", "250 EUR"),
        ("USD one million two hundred thousand", "1200000 USD"),
        ("CHF 50.-", "50 CHF"),
        ("20 Swiss francs", "20 CHF"),
        ("EUR -50", "-50 EUR"),
        ("-$5", "-5 USD"),
        ("(1,250)", "-1250|1250"),
        ("1,250- ", "-1250"),
        ("5 degrees Celsius below zero", "-5"),
        ("80%", "80 %"),
        ("12 Prozent", "12 %"),
        ("月額180,000円とする", "180000 JPY"),
        ("1億2000万円", "120000000 JPY"),
        ("保証金 ２８万円", "280000 JPY"),
        ("1억 2,500만 원", "125000000 KRW"),
        ("4.7亿元", "470000000 CNY"),
        ("1,5 millones de euros", "1500000 EUR"),
        ("R$ 2,3 bilhões", "2300000000 BRL"),
        ("3,2 млн руб.", "3200000 RUB"),
        ("750 tys. zł", "750000 PLN"),
        ("₹45 लाख", "4500000 INR"),
        ("٣٥٬٠٠٠ ريال", "35000 SAR"),
        ("Rp7,5 juta", "7500000 IDR"),
        ("Mzdové náklady     18 905     19 772", "18905"),
    ] {
        assert!(read(text).contains(&value.to_owned()), "{text}: {:?}", read(text));
    }
}

#[test]
fn names_and_lists_are_no_values() {
    for text in ["Section 12", "Policy No. NS-204-881", "3. Limits", "at 10:30", "§ 5", "page 4"] {
        assert_eq!(read(text), Vec::<String>::new(), "{text}");
    }
}

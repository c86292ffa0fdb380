//! Style of the pages: one sheet for phone, desk, paper, light and dark. No colour says anything alone.

use stepscope_base::canonical::Digest;
use stepscope_base::shown;
use stepscope_base::text::Shown;

pub(super) const SHEET: &str = r#"
:root{color-scheme:light dark;--paper:#fdfcf9;--card:#fff;--ink:#1d2125;--dim:#5a626b;--line:#dcd8d0;--soft:#f3f0ea;
--bad:#a01c22;--bad-soft:#fbe9e7;--warn:#7a4a00;--warn-soft:#fcf0d7;--good:#1b6434;--good-soft:#e4f3e7;--link:#1a4f9c;--mark:#fdeaa8;--aim:#dfe9fb}
@media(prefers-color-scheme:dark){:root{--paper:#15171a;--card:#1b1e22;--ink:#e7e4de;--dim:#a6adb5;--line:#363b41;--soft:#22262b;
--bad:#ff9a92;--bad-soft:#3c1f20;--warn:#f0c067;--warn-soft:#3a2d12;--good:#84d79c;--good-soft:#17321f;--link:#93bdff;--mark:#45390f;--aim:#22344f}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding-top:1rem;-webkit-text-size-adjust:100%;text-size-adjust:100%}
@media(prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;background:var(--paper);color:var(--ink);font:1.0625rem/1.6 Charter,"Bitstream Charter","Sitka Text",Cambria,Georgia,serif;overflow-wrap:anywhere}
main,header,footer{max-width:60rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2.5rem}footer{padding-top:2rem;padding-bottom:3rem;color:var(--dim);font-size:.875rem}
h1,h2,h3,th,nav,.kicker,.chip,.label,.badge,summary,footer,.facts,.said,.board{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
h1{font-size:1.75rem;line-height:1.2;letter-spacing:-.015em;margin:.25rem 0 1rem;font-weight:650}
h2{font-size:1.125rem;line-height:1.3;letter-spacing:-.005em;margin:2.75rem 0 .75rem;padding-top:.75rem;border-top:1px solid var(--line);font-weight:650}
h3{font-size:.9375rem;margin:1.25rem 0 .35rem;font-weight:600}
p{margin:.5rem 0}a{color:var(--link);text-underline-offset:.15em}
a:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:3px}
.kicker{color:var(--dim);font-size:.875rem;margin:0}
nav{font-size:.9375rem;margin:1rem 0 0}nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;margin:0;padding:0}nav a{display:inline-block;padding:.25rem 0}
.prose{white-space:pre-wrap;unicode-bidi:plaintext}
.lead{font-size:1.1875rem;line-height:1.55;margin:0;max-width:44rem}
code,pre,.value{font-family:ui-monospace,"Cascadia Code","SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.86em;font-variant-ligatures:none;unicode-bidi:isolate}
pre{white-space:pre-wrap;margin:.35rem 0;padding:.75rem .9rem;background:var(--soft);border-radius:6px;line-height:1.5;max-height:30rem;overflow:auto}
.value{white-space:pre-wrap}
.verdict{background:var(--card);border:1px solid var(--line);border-left:.375rem solid var(--dim);border-radius:6px;padding:1rem 1.25rem}
.verdict.bad{border-left-color:var(--bad)}.verdict.warn{border-left-color:var(--warn)}.verdict.good{border-left-color:var(--good)}
.verdict .says{font-size:1.25rem;line-height:1.35;margin:0}
.verdict ol,.verdict ul{margin:.5rem 0 0;padding-left:1.25rem}.verdict li{margin:.3rem 0}
.chip{display:inline-block;font-size:.8125rem;line-height:1.25rem;font-weight:600;padding:.0625rem .5rem;border-radius:4px;background:var(--soft);color:var(--dim)}
.chip.bad{background:var(--bad-soft);color:var(--bad)}.chip.warn{background:var(--warn-soft);color:var(--warn)}.chip.good{background:var(--good-soft);color:var(--good)}
.bad-text{color:var(--bad);font-weight:600}.dim{color:var(--dim)}
.label{display:block;color:var(--dim);font-size:.8125rem;font-weight:600;margin:.9rem 0 .15rem}
.badge{color:var(--dim);font-size:.8125rem;white-space:nowrap}
.facts{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.3rem 1.25rem;margin:.9rem 0 0;font-size:.9375rem}
.facts dt{color:var(--dim)}.facts dd{margin:0;white-space:pre-wrap;unicode-bidi:plaintext}
details{background:var(--card);border:1px solid var(--line);border-radius:6px;margin:.5rem 0}
summary{cursor:pointer;padding:.6rem .9rem;font-size:.9375rem;line-height:1.45}
summary .wrote{display:block;color:var(--dim);font-size:.875rem;padding-left:1.25rem}
summary .value{font-size:.8125rem}
details>.in{padding:0 1.25rem 1rem;border-top:1px solid var(--line)}
details details{background:none;margin:.75rem 0 0}
.turn{display:flex;gap:1.25rem;font-size:.9375rem;margin:1rem 0 0}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:6px;background:linear-gradient(to right,var(--card) 40%,transparent) left/2rem 100% no-repeat local,linear-gradient(to left,var(--card) 40%,transparent) right/2rem 100% no-repeat local,linear-gradient(to right,var(--line),transparent) left/.6rem 100% no-repeat,linear-gradient(to left,var(--line),transparent) right/.6rem 100% no-repeat var(--card);max-width:100%}
table{border-collapse:collapse;width:100%;font-size:.9375rem;line-height:1.4}
th,td{padding:.4rem .7rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
tr:last-child>*{border-bottom:0}
thead th{font-size:.8125rem;color:var(--dim);font-weight:600;white-space:nowrap}tbody th{font-weight:500;overflow-wrap:break-word}
.values th:first-child{width:13rem}.values td:last-child{width:8rem}
.grid{width:max-content;min-width:100%}.grid td{min-width:4rem;max-width:16rem}.grid tbody th{max-width:14rem}
td.same{color:var(--dim)}td.set{background:var(--mark)}td.set.bad{background:var(--bad-soft);box-shadow:inset 0 0 0 1px var(--bad)}
td .sign{font-family:system-ui,sans-serif;font-size:.75rem}
ul.tree,ul.tree ul{list-style:none;padding-left:1.1rem;margin:.2rem 0;border-left:1px solid var(--line)}ul.tree{padding-left:0;border:0}ul.tree li{padding:.15rem 0 .15rem .2rem}
.list{list-style:none;padding:0;margin:0}.list>li{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:.8rem 1.1rem;margin:.6rem 0}
.list p{margin:.3rem 0}
.where{color:var(--dim);font-size:.875rem}
mark{background:var(--mark);color:inherit;border-radius:2px;padding:0 .1em}mark.bad{background:var(--bad-soft);text-decoration:underline wavy var(--bad) 1px}mark.good{background:var(--good-soft)}mark.warn{background:var(--warn-soft)}
.pair{display:grid;grid-template-columns:minmax(0,2fr) minmax(0,3fr);gap:.25rem 1.5rem;margin:.75rem 0 0;padding-top:.75rem;border-top:1px solid var(--line)}
.lines{list-style:none;margin:0;padding:0;font-size:.9375rem}.lines li{display:grid;grid-template-columns:4.5rem minmax(0,1fr);gap:.75rem;padding:.1rem 0}
.lines .n{color:var(--dim);font-size:.8125rem;text-align:right;font-variant-numeric:tabular-nums;font-family:system-ui,sans-serif}
:target{background:var(--aim);outline:2px solid var(--link);outline-offset:2px}
.said{font-size:.9375rem}
.board meter,.board svg{display:block;width:100%;height:.75rem}.board rect.all{fill:var(--soft)}.board rect.bad{fill:var(--bad)}.board rect.good{fill:var(--good)}.board rect.warn{fill:var(--warn)}.board rect.plain{fill:var(--link)}
.board td.bar{width:40%;min-width:6rem;vertical-align:middle}
@media(max-width:40rem){main,header,footer{padding-left:1rem;padding-right:1rem}header{padding-top:1.5rem}h1{font-size:1.4375rem}.lead{font-size:1.0625rem}.pair{grid-template-columns:minmax(0,1fr)}.facts{grid-template-columns:minmax(0,1fr);gap:0}.facts dd{margin-bottom:.5rem}.lines li{grid-template-columns:3.25rem minmax(0,1fr)}.values{width:max-content;min-width:100%}.values th:first-child{width:auto}.values td{max-width:15rem}details>.in{padding:0 .9rem .9rem}}
@media print{:root{--paper:#fff;--card:#fff;--ink:#000;--dim:#444;--line:#bbb;--soft:#f4f4f4;--bad:#8b1015;--bad-soft:#fbe9e7;--warn:#6b4100;--warn-soft:#fcf0d7;--good:#14502a;--good-soft:#e4f3e7;--link:#000;--mark:#fdeaa8;--aim:transparent}
body{font-size:10.5pt}nav,.turn{display:none}main,header,footer{max-width:none;padding-left:0;padding-right:0}details{break-inside:avoid-page}details:not([open])>*{display:block}details::details-content{content-visibility:visible;block-size:auto;display:block}
pre{max-height:none}.scroll{overflow:visible}.list>li,.verdict,tr{break-inside:avoid}h2,h3{break-after:avoid}:target{outline:0}a{text-decoration:none}}
"#;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Writes the security policy of a page: a browser may show this sheet, known by its hash, and do nothing else.
pub(super) fn policy(sheet: &str) -> Shown {
    let hash = base64(&Digest::of_bytes(sheet.as_bytes()).bytes());
    shown!("default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'")
}

fn base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let byte = |n: usize| u32::from(three.get(n).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for n in 0..4 {
            let digit = DIGITS.get((bits >> (18 - 6 * n) & 63) as usize).copied().unwrap_or(b'=');
            out.push(if n > three.len() { '=' } else { char::from(digit) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    /// Relative luminance of a colour `#rgb` or `#rrggbb`, as WCAG 2 defines it.
    fn luminance(colour: &str) -> f64 {
        let digits: Vec<u32> = colour.chars().filter_map(|c| c.to_digit(16)).collect();
        let parts: Vec<u32> = match digits.len() {
            3 => digits.iter().map(|digit| digit * 17).collect(),
            _ => digits.chunks(2).map(|pair| pair.iter().fold(0, |all, digit| all * 16 + digit)).collect(),
        };
        let linear = |part: &u32| {
            let part = f64::from(*part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        parts.iter().zip([0.2126, 0.7152, 0.0722]).map(|(part, weight)| linear(part) * weight).sum()
    }

    #[test]
    fn every_text_can_be_read_on_every_ground() {
        let schemes: Vec<_> = super::SHEET.split(":root{").skip(1).filter_map(|rest| rest.split_once('}')).collect();
        assert_eq!(schemes.len(), 3, "light, dark and paper");
        for (scheme, _) in schemes {
            let colours: Vec<_> = scheme
                .split(';')
                .filter_map(|rule| rule.trim().strip_prefix("--")?.split_once(':'))
                .filter(|(name, colour)| *name != "line" && colour.starts_with('#'))
                .collect();
            let is_text = |name: &str| ["ink", "dim", "bad", "warn", "good", "link"].contains(&name);
            let (texts, grounds): (Vec<_>, Vec<_>) = colours.into_iter().partition(|(name, _)| is_text(name));
            assert!(texts.len() == 6 && grounds.len() >= 7, "{scheme}");
            for (text, ground) in texts.iter().flat_map(|text| grounds.iter().map(move |ground| (text, ground))) {
                let mut pair = [luminance(text.1), luminance(ground.1)];
                pair.sort_by(f64::total_cmp);
                let contrast = (pair[1] + 0.05) / (pair[0] + 0.05);
                assert!(contrast >= 4.5, "{} on {}: {contrast:.2}", text.0, ground.0);
            }
        }
    }

    #[test]
    fn base64_is_that_of_rfc_4648() {
        let of = |text: &str| super::base64(text.as_bytes());
        assert_eq!(
            ["", "f", "fo", "foo", "foob", "fooba"].map(of),
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE="]
        );
    }
}

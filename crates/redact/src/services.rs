//! Keys of services, as they are issued: what they begin with, and what makes the rest more than prose.
//!
//! The beginnings are facts that the services and public lists of rules (gitleaks, MIT) tell. Those lists ask for exact
//! lengths and plain spelling, because they look for leaks in source code; here a key may be cut, folded or escaped, so
//! a beginning and enough of what looks random are all that is asked for.

/// Beginnings that end in a dash or underscore, with what looks random behind them.
const BEGINNINGS: &[&str] = &[
    // OpenAI, Anthropic, OpenRouter, Langfuse, Stripe, Clerk and many who do as they do.
    "sk",
    "pk",
    "rk",
    "ak",
    "csk",
    "ctx7sk",
    "sk_live",
    "sk_test",
    "rk_live",
    "rk_test",
    "whsec",
    // Code hosts and registries.
    "ghp",
    "gho",
    "ghu",
    "ghs",
    "ghr",
    "github_pat",
    "glpat",
    "glptt",
    "gldt",
    "glrt",
    "glcbt",
    "glft",
    "glsoat",
    "gloas",
    "glagent",
    "glimt",
    "glffct",
    "npm",
    "pypi",
    "rubygems",
    "CLOJARS",
    "dckr_pat",
    "dckr_oat",
    "sgp",
    "oy2",
    // Models and their tools.
    "hf",
    "api_org",
    "gsk",
    "r8",
    "xai",
    "nvapi",
    "pplx",
    "tvly",
    "fc",
    "fw",
    "tgp_v1",
    "jina",
    "pa",
    "e2b",
    "lsv2",
    "lsv2_pt",
    "lsv2_sk",
    "ls",
    "pcsk",
    "wandb_v1",
    "phc",
    "phx",
    "esecret",
    "anyscale",
    // Clouds and hosting.
    "dop_v1",
    "doo_v1",
    "dor_v1",
    "pul",
    "pnu",
    "HRKU",
    "fo1",
    "fm1r",
    "fm1a",
    "fm2",
    "nfp",
    "sbp",
    "sb_secret",
    "pscale_tkn",
    "pscale_oauth",
    "pscale_pw",
    "tk-us",
    "GOCSPX",
    "rnd",
    "vcp",
    "v1.0",
    // Work, mail, money.
    "xapp",
    "xoxa",
    "xoxb",
    "xoxc",
    "xoxd",
    "xoxe",
    "xoxo",
    "xoxp",
    "xoxr",
    "xoxs",
    "lin_api",
    "lin_oauth",
    "ntn",
    "figd",
    "tfp",
    "shpat",
    "shpca",
    "shppa",
    "shpss",
    "sq0csp",
    "sq0atp",
    "sq0idp",
    "xkeysib",
    "key",
    "pubkey",
    "PMAK",
    "NRAK",
    "NRII",
    "NRJS",
    "NRRA",
    "glsa",
    "glc",
    "sntrys",
    "sntryu",
    "ops",
    "rdme",
    "duffel_test",
    "duffel_live",
    "shippo_live",
    "shippo_test",
    "sm_aat",
    "sm_pat",
    "sm_sat",
    "FLWSECK",
    "FLWSECK_TEST",
    "FLWPUBK_TEST",
    "dnkey",
    "fio-u",
    "ico",
    "p8e",
    "access-sandbox",
    "access-development",
    "access-production",
    "EAAA",
    "re",
    "ATBB",
];

/// Keys with another shape.
const SHAPES: &str = r"
    -{4,5}\ ?BEGIN\ [A-Z0-9\ ]*PRIVATE\ KEY(?:\ BLOCK)?\ ?-{4,5}(?s:.*?)(?:-{4,5}\ ?END\ [A-Z0-9\ ]*PRIVATE\ KEY(?:\ BLOCK)?\ ?-{4,5}|\z)
    | PuTTY-User-Key-File-[0-9](?s:.*?)(?:Private-MAC:\ *[0-9a-f]+|\z)
    | \b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA|AROA|AIDA|AGPA|ANPA)[0-9A-Z]{12,}
    | \bABSK[A-Za-z0-9+/]{40,}=*
    | \bLTAI[A-Za-z0-9]{12,}
    | \bAIza[A-Za-z0-9_-]{20,}
    | \bya29\.[A-Za-z0-9_.-]{12,}
    | \b1//0[A-Za-z0-9_-]{20,}
    | \bSG\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}
    | \bey[A-Z][A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)*
    | \b(?:age-secret-key-1|AGE-SECRET-KEY-1)[A-Za-z0-9]{20,}
    | \bsecret_[A-Za-z0-9]{24,}
    | \bdapi[0-9a-f]{24,}(?:-[0-9])?
    | \bhv[sbr]\.[A-Za-z0-9_-]{12,}
    | \bs\.[A-Za-z0-9]{24}\b
    | \bSK[0-9a-f]{32}\b
    | (?:\b|\bbot)[0-9]{8,12}:[A-Za-z0-9_-]{33,}
    | \b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}
    | \bhooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{10,}
    | \bdiscord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]{5,}/[A-Za-z0-9_-]{10,}
    | \b[a-z0-9-]+\.webhook\.office\.com/[A-Za-z0-9/@_-]{20,}
    | \bhooks\.zapier\.com/hooks/catch/[A-Za-z0-9/_-]{8,}
    | \bsig=[A-Za-z0-9%+/_-]{20,}=*
    | \b(?i:x-(?:amz|goog)-(?:signature|security-token))=[A-Za-z0-9%+/_=-]{16,}
    | [A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}
    | \bdt0[a-z][0-9]{2}\.[A-Za-z0-9]{20,}(?:\.[A-Za-z0-9]{20,})?
    | \bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{20,}
    | \bEZ[AT]K[A-Za-z0-9]{40,}
    | \bAT(?:ATT|CTT)3[A-Za-z0-9_=-]{20,}
    | \bA[0-9]-[A-Z0-9]{6}-[A-Z0-9]{5,}-[A-Z0-9-]{10,}
    | \bAKCp[A-Za-z0-9]{30,}
    | \bpat[A-Za-z0-9]{14}\.[0-9a-f]{32,}
    | \b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{30,}
    | \bsha256~[A-Za-z0-9_-]{30,}
    | \bAccountKey=[A-Za-z0-9+/]{20,}=*
";

/// Returns the pattern of keys of services as a text may hold them.
pub(super) fn pattern() -> String {
    let mut beginnings = BEGINNINGS.to_vec();
    // The longest first: `sk_live_` is more than `sk_`.
    beginnings.sort_by_key(|beginning| std::cmp::Reverse(beginning.len()));
    let beginnings: Vec<String> = beginnings.into_iter().map(regex::escape).collect();
    let rest = r"[-_][A-Za-z0-9_-]{12,}[A-Za-z0-9._=~+/-]*";
    format!(r"(?x-u) (?:\b|_)(?:{}){rest} | {SHAPES}", beginnings.join("|"))
}

/// Tells whether a match of [`pattern`] is more than words that only begin alike.
pub(super) fn is_key(found: &[u8]) -> bool {
    if found.starts_with(b"---") || found.starts_with(b"PuTTY") || memchr::memchr2(b'/', b'=', found).is_some() {
        return true;
    }
    let run = found.split(|byte| !byte.is_ascii_alphanumeric()).max_by_key(|run| run.len());
    let run = run.unwrap_or(found);
    let digits = found.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = found.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let is_mixed = run.iter().any(u8::is_ascii_digit) && run.iter().any(u8::is_ascii_alphabetic);
    (found.starts_with(b"ey") && digits > 0)
        || (run.len() >= 10 && is_mixed)
        || run.len() >= 20
        || (digits >= 4 && letters >= 4 && digits + letters >= 24)
}

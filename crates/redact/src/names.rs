//! Names of secrets: `OPENAI_API_KEY`, `db_password`, `sessionToken`, and what a value under such a name must look like
//! to be one.
//!
//! A name counts by how it ends, whatever is before: `max_tokens` and `token_count` count something. What ends in `key`
//! or `token` may be anything, so that there the value must look like a key too.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Words that every name of a secret holds.
const STEMS: &[&str] = stepscope_base::list![
    pass pwd secret token key auth cookie credential creds bearer jwt dsn sig sid pat connection connstr webhook
    kennwort
];
/// A longer text is no name.
pub(super) const LONGEST: usize = 64;

static STEM: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(STEMS).ok());

/// The places of words that names of secrets hold.
pub(super) fn stems(text: &[u8]) -> impl Iterator<Item = usize> {
    STEM.iter().flat_map(move |stem| stem.find_iter(text).map(|found| found.start()))
}

/// Weight of a name: what a value under it must look like to be a secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Secrecy {
    /// Any value is secret.
    Password,
    /// Any word of some length is secret.
    Secret,
    /// Any text that is no word is secret.
    Guarded,
    /// A value that looks like a key or a checksum is secret.
    Token,
    /// A value that looks like a key is secret.
    Perhaps,
}

/// Endings without the marks between their words.
const PASSWORDS: &[&str] =
    &["password", "passwords", "passwd", "passphrase", "passcode", "passwort", "kennwort", "pwd"];
const SECRETS: &[&str] = stepscope_base::list![
    apikey apikeys secretkey secretkeys accesskey accesskeys accesskeyid privatekey privatekeys privatekeyid
    authkey accountkey signingkey encryptionkey masterkey sharedkey subscriptionkey sessionkey servicekey
    serviceaccountkey adminkey deploykey licensekey sshkey hmackey jwtkey clientkey functionskey storagekey
    clientsecret appsecret sharedsecret webhooksecret authtoken authtokens accesstoken accesstokens refreshtoken
    sessiontoken bearertoken apitoken apitokens sastoken securitytoken bottoken privatetoken deploytoken
    servicetoken oauthtoken logintoken verificationtoken webhooktoken tokensecret secretkeybase connectionstring
    connstr
];
/// Last words.
const SECRET: &[&str] = &["secret", "secrets"];
const GUARDED: &[&str] = stepscope_base::list![
    auth cookie cookies credential credentials creds authorization sessionid pw
];
const TOKENS: &[&str] = &["token", "bearer", "pat", "jwt", "sid"];
const PERHAPS: &[&str] = &["key", "keys", "tokens", "sig", "signature", "dsn", "webhook"];
/// Owners of keys and tokens: before these words a word of some length is enough.
const OWNERS: &[&str] = stepscope_base::list![
    anthropic openai azure aws gcp google gemini hf huggingface github gh gitlab slack discord telegram npm pypi
    twilio sendgrid stripe groq xai mistral cohere replicate wandb langsmith langchain langfuse pinecone
    databricks vault notion supabase linear docker fireworks together perplexity tavily deepseek cloudflare
    heroku vercel netlify datadog sentry mailgun jira atlassian codecov sonar snyk terraform pulumi bot api auth
    access refresh session oauth csrf xsrf jwt personal service id x
];
/// Users of passwords that are called `pass`.
const USERS: &[&str] = stepscope_base::list![
    db database mysql pg postgres redis mongo smtp mail imap ftp ssh admin root user login http proxy
];
/// Words before `key`, `token` or `signature` where they are no secret.
const HARMLESS: &[&str] = stepscope_base::list![
    primary foreign sort partition cache object index public idempotency answer row dict map hash group join
    lookup unique routing item record next page continuation eos bos pad unk sep cls mask stop special start end
    first last total max min prompt completion input output function method type call
];
/// Words that may stand behind a name of a secret.
const BEHIND: &[&str] = stepscope_base::list![
    value val text string str plain raw old new current prod production dev staging test live primary secondary
    backup default base64 b64 env hash header
];

/// Splits a name at marks and where small letters become capital ones.
fn words(name: &[u8]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut was_small, mut begins) = (false, true);
    let mut rest = name.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if !byte.is_ascii_alphanumeric() {
            (was_small, begins) = (false, true);
            continue;
        }
        // `APIKey` is `API` and `Key`.
        let ends_capitals = byte.is_ascii_uppercase() && !was_small && rest.peek().is_some_and(u8::is_ascii_lowercase);
        if begins || (was_small && byte.is_ascii_uppercase()) || ends_capitals {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
        (was_small, begins) = (byte.is_ascii_lowercase() || byte.is_ascii_digit(), false);
    }
    words
}

impl Secrecy {
    /// Returns what a name says of its value; `None`: nothing.
    pub(super) fn of(name: &[u8]) -> Option<Self> {
        if name.len() > LONGEST || stems(name).next().is_none() {
            return None;
        }
        let mut words = words(name);
        loop {
            let of_all = Self::of_words(&words);
            let is_behind = |last: &String| BEHIND.contains(&&**last) || last.bytes().all(|byte| byte.is_ascii_digit());
            if of_all.is_some() || !words.last().is_some_and(is_behind) {
                return of_all;
            }
            words.pop();
        }
    }

    fn of_words(words: &[String]) -> Option<Self> {
        let without_number = |word: &str| word.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
        let joined = without_number(&words.concat());
        let (last, before) = words.split_last()?;
        let (last, before) = (without_number(last), before.last().map(String::as_str));
        let last = last.as_str();
        let ends = |endings: &[&str]| endings.iter().any(|ending| joined.ends_with(ending));
        let is_owned = before.is_some_and(|before| OWNERS.contains(&before));
        if ends(PASSWORDS) || (last == "pass" && before.is_some_and(|before| USERS.contains(&before))) {
            Some(Self::Password)
        } else if ends(SECRETS) || SECRET.contains(&last) || (is_owned && ["key", "token", "pat"].contains(&last)) {
            Some(Self::Secret)
        } else if GUARDED.contains(&last) || ends(&["authorization", "setcookie"]) {
            Some(Self::Guarded)
        } else if before.is_some_and(|before| HARMLESS.contains(&before)) {
            None
        } else if TOKENS.contains(&last) {
            Some(Self::Token)
        } else {
            PERHAPS.contains(&last).then_some(Self::Perhaps)
        }
    }

    /// Tells whether a whole value under such a name is a secret. `direct`: it is the value of the name itself, and not
    /// only near it.
    pub(super) fn holds(self, value: &[u8], direct: bool) -> bool {
        let value = value.trim_ascii();
        if is_placeholder(value) {
            return false;
        }
        let blanks = value.iter().filter(|byte| byte.is_ascii_whitespace()).count();
        match self {
            Self::Password if direct => value.len() >= 4 && blanks < 8,
            Self::Password => blanks == 0 && value.len() >= 6 && !is_word(value),
            // A key may be laid out over several lines.
            Self::Secret if blanks > 0 => value.split(u8::is_ascii_whitespace).all(|part| part.len() >= 32),
            Self::Secret => value.len() >= 8 && (direct || !is_word(value)),
            Self::Guarded => value.split(u8::is_ascii_whitespace).any(is_credential),
            Self::Token => looks_random(value) || is_checksum(value),
            Self::Perhaps => looks_random(value),
        }
    }
}

/// Tells whether something stands where a secret will be, or where one was.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    const WORDS: &[&str] = stepscope_base::list![
        none null nil true false undefined string text password passwd secret token required optional empty
        redacted hidden masked unset example changeme placeholder bearer basic header apikey integer number
        boolean object array unknown missing pass str bytes unicode varchar username
    ];
    let lower = value.to_ascii_lowercase();
    let begins = |with: &[&[u8]]| with.iter().any(|with| lower.starts_with(with));
    let holds = |word: &[u8]| memchr::memmem::find(&lower, word).is_some();
    let is_variable = value.strip_prefix(b"$").is_some_and(|name| {
        !name.is_empty() && name.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
    });
    let first = value.first().copied();
    is_variable
        || value
            .iter()
            .all(|byte| Some(*byte) == first || matches!(byte, b'*' | b'x' | b'X' | b'.' | b'-' | b'_' | b'#'))
        || begins(&[b"<", b"${", b"$(", b"{{", b"%(", b"[redacted", b"os.environ", b"process.env", b"***"])
        || (begins(&[b"http://", b"https://", b"file://"]) && !holds(b"@"))
        || (holds(b"your") && [&b"key"[..], b"token", b"secret", b"password", b"api"].iter().any(|word| holds(word)))
        || WORDS.iter().any(|word| word.as_bytes() == lower)
        || (is_word(value) && Secrecy::of(value).is_some())
}

/// Tells whether a part of a header is more than a name: `session=…`, `ada:…`, or a key alone.
fn is_credential(part: &[u8]) -> bool {
    let value = part.strip_suffix(b";").unwrap_or(part);
    let last = value.rsplit(|byte| matches!(byte, b'=' | b':')).find(|piece| !piece.is_empty()).unwrap_or(value);
    let is_of_code = |byte: &u8| matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>');
    let letters = last.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let is_long = value.len() >= 8 && last.len() >= 6 && letters >= 2;
    is_long && last.iter().any(u8::is_ascii_digit) && !value.iter().any(is_of_code)
}

/// Tells whether a text is of hexadecimal digits alone, as checksums and identifiers are, and as long.
fn is_checksum(text: &[u8]) -> bool {
    text.len() >= 32 && text.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
}

/// Tells whether a text is a word, a number or a date, or several joined by marks, as prose and names in code have them.
pub(super) fn is_word(text: &[u8]) -> bool {
    let is_joint = |byte: u8| matches!(byte, b'-' | b'_' | b'.' | b'/' | b'\'' | b',' | b':');
    let turns =
        text.windows(2).filter(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()));
    let is_few = |turns: usize| turns < 3 || turns * 6 <= text.len();
    let is_of = |is: fn(&u8) -> bool| text.iter().all(|byte| is(byte) || is_joint(*byte));
    is_of(u8::is_ascii_digit) || (is_of(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii()) && is_few(turns.count()))
}

/// Tells whether a text looks like a key and not like a name, number, checksum, date or identifier.
pub(super) fn looks_random(text: &[u8]) -> bool {
    // What checksums and identifiers are made of.
    let is_hex = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b'-';
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-' | b'~');
    if text.len() < 16 || text.iter().all(is_hex) || !text.iter().all(is_part) {
        return false;
    }
    let count = |is: fn(&u8) -> bool| text.iter().filter(|byte| is(byte)).count();
    let (digits, large, small) =
        (count(u8::is_ascii_digit), count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    let kind = |byte: &u8| (byte.is_ascii_digit(), byte.is_ascii_uppercase());
    let turns = text.windows(2).filter(|pair| matches!(pair, [a, b] if kind(a) != kind(b))).count();
    let has_run = text.split(|byte| !byte.is_ascii_alphanumeric()).any(|run| run.len() >= 10);
    has_run && digits >= 2 && turns >= 5 && large + small >= 4
}

//! Tries to get a secret out: every kind of key in every carrier, every name of a secret in every structure, and words.
//!
//! All keys are made while the test runs, so that no scanner of repositories takes this file for a leak.

use super::tests::in_record;
use super::*;
use serde_json::{Value as Json, json};

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const DIGITS: &[u8] = b"0123456789";
const HEX: &[u8] = b"0123456789abcdef";

/// Makes characters that look random and are always the same.
fn made(seed: &str, count: usize, of: &[&[u8]]) -> String {
    let mut state =
        seed.bytes().fold(0x9e37_79b9_u64, |state, byte| (state ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    let all = of.concat();
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    (0..count).map(|_| char::from(all[next() % all.len()])).collect()
}

fn word(seed: &str, count: usize) -> String {
    made(seed, count, &[LETTERS, &LETTERS.to_ascii_uppercase(), DIGITS])
}

fn hex(seed: &str, count: usize) -> String {
    made(seed, count, &[HEX])
}

fn uuid(seed: &str) -> String {
    [8, 4, 4, 4, 12].map(|count| hex(&format!("{seed}{count}"), count)).join("-")
}

fn base64(text: &str) -> String {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for part in text.as_bytes().chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, n| bits << 8 | u32::from(part.get(n).copied().unwrap_or(0)));
        for n in 0..4 {
            let sign = char::from(SIGNS[(bits >> (18 - 6 * n)) as usize & 63]);
            out.push(if n <= part.len() { sign } else { '=' });
        }
    }
    out
}

/// Keys of services: what it begins with, and made characters behind that.
fn keys() -> Vec<(&'static str, String)> {
    let after = |begin: &str, count: usize| format!("{begin}{}", word(begin, count));
    let hexed = |begin: &str, count: usize| format!("{begin}{}", hex(begin, count));
    let upper =
        |begin: &str, count: usize| format!("{begin}{}", made(begin, count, &[&LETTERS.to_ascii_uppercase(), DIGITS]));
    vec![
        ("OpenAI", after("sk-", 48)),
        ("OpenAI project", after("sk-proj-", 64)),
        ("Anthropic", after("sk-ant-api03-", 80)),
        ("OpenRouter", hexed("sk-or-v1-", 64)),
        ("Langfuse", format!("sk-lf-{}", uuid("langfuse"))),
        ("Groq", after("gsk_", 52)),
        ("xAI", after("xai-", 80)),
        ("Replicate", after("r8_", 37)),
        ("Hugging Face", after("hf_", 34)),
        ("Fireworks", after("fw_", 24)),
        ("Together", after("tgp_v1_", 43)),
        ("Perplexity", after("pplx-", 48)),
        ("NVIDIA", after("nvapi-", 64)),
        ("Tavily", after("tvly-", 32)),
        ("LangSmith", format!("lsv2_pt_{}_{}", hex("ls", 32), hex("ls2", 10))),
        ("Pinecone", format!("pcsk_{}_{}", word("pc", 6), word("pc2", 60))),
        ("Databricks", hexed("dapi", 32)),
        ("Vault", after("hvs.", 90)),
        ("Notion", after("ntn_", 46)),
        ("Notion, old", after("secret_", 43)),
        ("Supabase", hexed("sbp_", 40)),
        ("Sourcegraph", format!("sgp_{}_{}", hex("sg", 16), hex("sg2", 40))),
        ("Linear", after("lin_api_", 40)),
        ("Docker", after("dckr_pat_", 27)),
        ("GitHub", after("ghp_", 36)),
        ("GitHub, fine", format!("github_pat_{}_{}", word("gh", 22), word("gh2", 59))),
        ("GitLab", after("glpat-", 20)),
        ("npm", after("npm_", 36)),
        ("PyPI", after("pypi-AgEIcHlwaS5vcmc", 60)),
        ("Stripe", after("sk_live_", 24)),
        ("Stripe, restricted", after("rk_test_", 24)),
        ("Twilio", hexed("SK", 32)),
        ("SendGrid", format!("SG.{}.{}", word("sg", 22), word("sg3", 43))),
        ("AWS", upper("AKIA", 16)),
        ("AWS, for a while", upper("ASIA", 16)),
        ("Google", after("AIza", 35)),
        ("Google, access", after("ya29.", 60)),
        ("Google, client", after("GOCSPX-", 28)),
        ("Slack", format!("xoxb-{}-{}-{}", made("a", 12, &[DIGITS]), made("b", 12, &[DIGITS]), word("c", 24))),
        (
            "Slack hook",
            format!("https://hooks.slack.com/services/{}/{}/{}", upper("T", 8), upper("B", 8), word("s", 24)),
        ),
        ("Discord hook", format!("https://discord.com/api/webhooks/{}/{}", made("d", 18, &[DIGITS]), word("dd", 68))),
        ("Telegram", format!("{}:AA{}", made("t", 10, &[DIGITS]), word("tt", 33))),
        ("Azure signature", format!("https://a.blob.core.windows.net/c/f?sv=2022-11-02&sig={}%3D", word("az", 43))),
        ("Azure client", format!("{}8Q~{}", word("aza", 3), word("azb", 34))),
        ("Mailgun", hexed("key-", 32)),
        ("Shopify", hexed("shpat_", 32)),
        ("DigitalOcean", hexed("dop_v1_", 64)),
        ("Grafana", format!("glsa_{}_{}", word("gr", 32), hex("gr", 8))),
        ("Figma", after("figd_", 40)),
        ("age", upper("AGE-SECRET-KEY-1", 58)),
        (
            "JWT",
            format!(
                "{}.{}.{}",
                base64("{\"alg\":\"HS256\"}").trim_end_matches('='),
                base64("{\"sub\":\"12345\"}").trim_end_matches('='),
                word("jwt", 43)
            ),
        ),
        ("database", format!("postgres://ada:{}@db.example:5432/x", word("pg", 14))),
    ]
}

/// Name of a way to hold a key, and the record that does.
type Carrier = (&'static str, fn(&str) -> Json);

fn halves(key: &str) -> (&str, &str) {
    key.split_at(key.len() / 2)
}

fn each_char(key: &str, spelled: impl Fn(char) -> String) -> String {
    key.chars().map(spelled).collect()
}

const CARRIERS: &[Carrier] = &[
    ("bare text", |key| json!({ "question": format!("Why does {key} not work?") })),
    ("member", |key| json!({ "x": key })),
    ("member name", |key| json!({ key: 1 })),
    ("nested", |key| json!({ "a": [{ "b": { "c": [[key]] } }] })),
    ("pair", |key| json!({ "name": "SERVICE_API_KEY", "value": key })),
    ("header list", |key| json!({ "headers": [["Accept", "text/html"], ["Authorization", format!("Bearer {key}")]] })),
    ("env line", |key| json!({ "log": format!("PATH=/bin\nexport SERVICE_API_KEY={key}\nLANG=C") })),
    ("URL", |key| json!({ "url": format!("https://example.org/v1?api_key={key}&page=2") })),
    ("percent signs", |key| json!({ "url": each_char(key, |c| format!("%{:02X}", u32::from(c))) })),
    ("references", |key| json!({ "html": each_char(key, |c| format!("&#{};", u32::from(c))) })),
    (
        "JSON in JSON",
        |key| json!({ "raw": json!({ "k": each_char(key, |c| format!("\\u{:04x}", u32::from(c))) }).to_string() }),
    ),
    ("wrapped", |key| json!({ "text": format!("first\n{}\n{} last", halves(key).0, halves(key).1) })),
    ("wrapped and indented", |key| json!({ "text": format!("first {}\r\n      {}", halves(key).0, halves(key).1) })),
    ("lines", |key| json!({ "lines": ["first", halves(key).0, halves(key).1, "last"] })),
    (
        "lines as objects",
        |key| json!({ "lines": [{ "n": 1, "text": halves(key).0 }, { "n": 2, "text": halves(key).1 }] }),
    ),
    ("base64", |key| json!({ "blob": base64(key) })),
    ("base64 of a line", |key| json!({ "text": format!("see {} here", base64(&format!("API_KEY={key}\n"))) })),
    ("hexadecimal", |key| json!({ "blob": each_char(key, |c| format!("{:02x}", u32::from(c))) })),
    ("zero width", |key| json!({ "text": each_char(key, |c| format!("{c}\u{200b}")) })),
    ("wide letters", |key| {
        let wide = |c: char| char::from_u32(u32::from(c) + 0xfee0).filter(|_| c.is_ascii_graphic()).unwrap_or(c);
        json!({ "text": each_char(key, |c| wide(c).to_string()) })
    }),
    ("look-alikes", |key| {
        let alike = |c: char| "aecopxysiABEHKMOPCTX".find(c).and_then(|at| "аесорхуѕіАВЕНКМОРСТХ".chars().nth(at));
        json!({ "text": each_char(key, |c| alike(c).unwrap_or(c).to_string()) })
    }),
    ("other dashes", |key| json!({ "text": key.replace('-', "\u{2011}").replace('_', "＿") })),
];

/// Every eight characters of a secret, as a record holds it.
fn parts(secret: &str) -> Vec<String> {
    let secret: Vec<char> = secret.chars().collect();
    secret.windows(8.min(secret.len())).map(|part| part.iter().collect()).collect()
}

/// Describes a try that gets something out, or that is not seen without `--redact`.
fn fails(what: &str, record: &Json, secrets: &[String]) -> Option<String> {
    assert!(!secrets.is_empty(), "{what} holds no secret");
    let text = record.to_string();
    let seen = in_record(text.as_bytes()).iter().any(|hit| SECRETS.contains(&hit.kind));
    let clean = String::from_utf8(Redaction::all().record(text.as_bytes()).into_owned()).unwrap();
    let told = in_record(clean.as_bytes());
    let texts = texts(&serde_json::from_str(&clean).unwrap());
    match secrets.iter().find(|secret| clean.contains(*secret) || texts.contains(*secret)) {
        _ if !seen => Some(format!("{what}: not seen in {text}")),
        Some(left) => Some(format!("{what}: {left:?} is left in {clean}")),
        None if !told.is_empty() => Some(format!("{what}: {told:?} in {clean}")),
        None => None,
    }
}

/// Every text of a record, one behind the other.
fn texts(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(items) => items.iter().map(texts).collect(),
        Json::Object(members) => members.iter().flat_map(|(name, value)| [name.clone(), texts(value)]).collect(),
        other => other.to_string(),
    }
}

/// Makes another key of the same service: other characters in its longest run of letters and digits.
fn another(key: &str) -> String {
    let run = key.split(|c: char| !c.is_ascii_alphanumeric()).max_by_key(|run| run.len()).unwrap();
    let (from, end) = (key.rfind(run).unwrap() + run.len() / 4, key.rfind(run).unwrap() + run.len());
    let next = |c: char| match c {
        'z' => 'a',
        'Z' => 'A',
        'f' => 'a',
        '9' => '0',
        c => char::from(c as u8 + 1),
    };
    format!("{}{}{}", &key[..from], key[from..end].chars().map(next).collect::<String>(), &key[end..])
}

fn check(tries: usize, failed: &[String]) {
    assert!(failed.is_empty(), "{} of {tries}:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn no_key_of_a_service_gets_out_in_any_carrier() {
    let (mut failed, mut tries) = (Vec::new(), 0);
    for (service, key) in keys() {
        for (name, carrier) in CARRIERS {
            let (record, other) = (carrier(&key), texts(&carrier(&another(&key))));
            // What another key has not is secret.
            let secrets: Vec<String> =
                parts(&texts(&record)).into_iter().filter(|part| !other.contains(part)).collect();
            tries += 1;
            failed.extend(fails(&format!("{service}, {name}"), &record, &secrets));
        }
    }
    check(tries, &failed);
}

/// Names that end in the name of a secret.
const NAMES: &[&str] = &[
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "aws_secret_access_key",
    "AWS_SESSION_TOKEN",
    "aws_access_key_id",
    "db_password",
    "DB_PASS",
    "PGPASSWORD",
    "MYSQL_PWD",
    "HF_TOKEN",
    "GITHUB_TOKEN",
    "SLACK_BOT_TOKEN",
    "x-api-key",
    "X-Auth-Token",
    "sessionToken",
    "accessToken",
    "refresh_token",
    "id_token",
    "clientSecret",
    "client_secret",
    "consumer.secret",
    "JWT_SECRET",
    "SECRET_KEY_BASE",
    "private_key",
    "privateKeyId",
    "signing-key",
    "encryptionKey",
    "Password",
    "passwd",
    "user_password",
    "smtpPassword",
    "admin-passphrase",
    "apikey",
    "apiKey2",
    "API_KEY_PROD",
    "new_password",
    "Ocp-Apim-Subscription-Key",
    "AccountKey",
    "SharedAccessKey",
    "webhook_secret",
    "bearerToken",
    "personal_access_token",
    "authToken",
    "connectionString",
];

#[test]
fn no_value_of_a_secret_name_gets_out_of_any_structure() {
    let (mut failed, mut tries) = (Vec::new(), 0);
    for name in NAMES {
        let value = word(name, 16);
        let records = [
            ("member", json!({ *name: value })),
            ("deep member", json!({ "config": [{ "env": { *name: value } }] })),
            ("list", json!({ *name: ["a", value] })),
            ("object", json!({ *name: { "value": value } })),
            ("object of objects", json!({ *name: { "prod": { "current": value } } })),
            ("pair", json!({ "name": name, "value": value })),
            ("pair by key", json!({ "env": [{ "key": name, "value": value, "type": "plain" }] })),
            ("neighbours", json!({ "label": name, "shown": value, "width": 3 })),
            ("list of pairs", json!({ "headers": [["Accept", "*/*"], [name, value]] })),
            ("arguments", json!({ "argv": ["run", format!("--{name}"), value, "--verbose"] })),
            ("env line", json!({ "log": format!("A=1\nexport {name}={value}\nB=2") })),
            ("quoted line", json!({ "code": format!("{name} = \"{value}\"  # do not share") })),
            ("yaml", json!({ "yaml": format!("db:\n  {name}: {value}\n  port: 5432\n") })),
            ("yaml pair", json!({ "yaml": format!("env:\n- name: {name}\n  value: {value}\n- name: A\n") })),
            ("JSON in text", json!({ "raw": format!("said: {}", json!({ *name: value })) })),
            ("pair in text", json!({ "raw": json!([{ "name": name, "value": value }]).to_string() })),
            ("option", json!({ "cmd": format!("tool --{name} {value} --verbose") })),
            ("option with a sign", json!({ "cmd": format!("tool --{name}={value}") })),
            ("query", json!({ "url": format!("https://example.org/?a=1&{name}={value}&b=2") })),
            ("XML", json!({ "xml": format!("<c><{name}>{value}</{name}></c>") })),
            ("base64", json!({ "blob": base64(&format!("{name}={value}")) })),
        ];
        for (structure, record) in records {
            tries += 1;
            let secret =
                if structure == "base64" { base64(&format!("{name}={value}"))[12..].to_owned() } else { value.clone() };
            failed.extend(fails(&format!("{name}, {structure}"), &record, &parts(&secret)));
        }
    }
    check(tries, &failed);
}

#[test]
fn words_around_give_a_secret_away() {
    let (value, long) = (format!("{}4x", word("around", 8)), word("long", 32));
    let (mut failed, mut tries) = (Vec::new(), 0);
    for (sentence, secret) in [
        (format!("mysql -u root --password {value} -h db"), &value),
        (format!("login with --password={value}"), &value),
        (format!("my password is {value}"), &value),
        (format!("My password is: {value}."), &value),
        ("our password is swordfishes, do not tell".to_owned(), &"swordfishes".to_owned()),
        (format!("The password for the old server is {value}, I think"), &value),
        (format!("use password {value} to log in"), &value),
        (format!("the API key is {long}"), &long),
        (format!("here is my access token: {long}"), &long),
        (format!("API key {long}"), &long),
        (format!("Passwort: {value}"), &value),
        (format!("password '{value}'"), &value),
        (format!("**Password:** `{value}`"), &value),
        (format!("Authorization: Bearer {long}"), &long),
        (format!("authorization: {long}"), &long),
        (format!("Authorization: Basic {}", base64(&format!("ada:{value}"))), &base64(&format!("ada:{value}"))),
        (format!("Authorization: ApiKey {long}"), &long),
        (format!("Proxy-Authorization: Token {long}"), &long),
        (format!("Cookie: theme=dark; session={long}"), &long),
        (format!("Set-Cookie: sid={long}; Path=/; HttpOnly"), &long),
        (format!("curl -u ada:{value} https://example.org"), &value),
        (format!("curl -s --user 'ada:{value}' https://example.org"), &value),
        (format!("curl -H 'X-Api-Key: {long}' https://example.org"), &long),
        (format!("sshpass -p {value} ssh host"), &value),
        (format!("mysql -uroot -p{value} shop"), &value),
        (format!("redis://:{value}@cache:6379/0"), &value),
        (format!("mongodb+srv://ada:{value}@c.example/x"), &value),
        (format!("Server=db;User Id=sa;Password={value};Encrypt=true"), &value),
        (format!("https://{long}@sentry.example/1"), &long),
        (format!("https://s3.example/f?X-Amz-Signature={}", hex("amz", 64)), &hex("amz", 64)),
        (format!("https://s3.example/f#access_token={long}&state=1"), &long),
        (format!("machine example.org login ada password {value}"), &value),
        (format!("password=p@{value},&x!"), &value),
    ] {
        tries += 1;
        failed.extend(fails(&sentence, &json!({ "text": sentence }), &parts(secret)));
    }
    for (what, record, secret) in [
        ("a number", json!({ "db_password": 48_213_377 }), "48213377"),
        ("a short one", json!({ "password": "hunter2" }), "hunter2"),
        ("a phrase", json!({ "passphrase": "correct horse battery staple" }), "correct horse battery staple"),
        ("a command in pieces", json!({ "argv": ["curl", "-u", format!("ada:{value}"), "https://x.example"] }), &value),
    ] {
        tries += 1;
        failed.extend(fails(what, &record, &parts(secret)));
    }
    check(tries, &failed);
}

#[test]
fn a_private_key_goes_whole() {
    let body: Vec<String> = (0..6).map(|n| word(&format!("pem{n}"), 64)).collect();
    let (begin, end) = ["BEGIN", "END"].map(|word| format!("-----{word} RSA PRIVATE KEY-----")).into();
    let lines: Vec<&str> =
        [begin.as_str()].into_iter().chain(body.iter().map(String::as_str)).chain([end.as_str()]).collect();
    let mut failed = Vec::new();
    for (what, record) in [
        ("one text", json!({ "text": format!("see\n{}\nend", lines.join("\n")) })),
        ("with written line ends", json!({ "text": format!("see {} end", lines.join("\\n")) })),
        ("with Windows' line ends", json!({ "text": lines.join("\r\n") })),
        ("a list of lines", json!({ "document": { "lines": lines } })),
        ("lines of a page", json!({ "pages": lines.iter().map(|line| json!({ "text": line })).collect::<Vec<_>>() })),
        (
            "a service account",
            json!({ "type": "service_account", "private_key_id": hex("id", 40), "private_key": lines.join("\n") }),
        ),
        ("cut off", json!({ "text": lines[..4].join("\n") })),
    ] {
        failed.extend(fails(what, &record, &parts(&body[2])));
    }
    check(7, &failed);
    let document = Document::of(lines.iter().enumerate().map(|(n, line)| (1, n as i64, *line)).collect(), Vec::new());
    let clean = Redaction::all().document(&document);
    assert_eq!(clean.len(), document.len());
    for line in 0..clean.len() {
        assert_eq!(clean.line(line), Some(&b"[redacted:key]"[..]));
    }
}

#[test]
fn what_is_no_secret_stays() {
    let image = base64(&(0..400).map(|n| char::from((n * 37 % 251) as u8)).collect::<String>());
    let texts = [
        "the password is wrong",
        "reset your password",
        "Your password is incorrect.",
        "password is required",
        "The password must be at least 8 characters",
        "forgot password?",
        "my password is not working",
        "my password is expired",
        "enter the password below",
        "password: required",
        "passwords do not match",
        "a token of appreciation",
        "max_tokens: 2048",
        "total_tokens=1999 prompt_tokens=12",
        "token_count: 123456789",
        "the secret of success is work",
        "The key is to practise 10 times",
        "primary key: user_id",
        "sort_key=created_at",
        "the API key is missing",
        "set OPENAI_API_KEY first",
        "export API_KEY=<your key>",
        "api_key=os.environ['API_KEY']",
        "api_key = os.getenv(\"OPENAI_API_KEY\")",
        "password = getpass.getpass()",
        "token = tokenizer.decode(ids)",
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        "pass the cookie: chocolate chip",
        "PASSWORD=${DB_PASSWORD}",
        "The bearer instruments are paid",
        "the basic principles",
        "basic arithmetic and algebra 101",
        "digest of the day",
        "git commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "md5 d41d8cd98f00b204e9800998ecf8427e",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "sk_total_amount_of_apples",
        "fw_version_1_2_3",
        "key-value store",
        "pa-2024",
        "desk-1234567890",
        "task-2-of-12-is-done",
        "gpt-4o-mini-2024-07-18",
        "claude-3-5-sonnet-20241022",
        "meta-llama/Llama-3.1-8B-Instruct",
        "text-embedding-3-large",
        "https://example.org/a?id=17&page=2",
        "https://example.org:8080/x@y",
        "at 10:30:00, 12:45",
        "ratio 1234567890:1",
        "cache_key: d41d8cd98f00b204e9800998ecf8427e",
        "def get_token(self, n): return self.tokens[n]",
        "the author's key findings: 12 of 30",
        "monkey: 12345678",
        "keyboard = qwerty2",
        "authentication: enabled",
        "2024-01-01T00:00:00Z\n2024-01-02T00:00:00Z",
        "He won by 6-4, 7-6",
        "if password:\n    arguments += [password]",
        "pub log_passwd: __u32,",
        "let private_key =\n    signature::EcdsaKeyPair::from_private_key(alg)",
        "use tower_http::auth::AddAuthorizationLayer;",
        "let secret_0 = _mm256_loadu_si256(secret.add(i));",
        "cookie: Some(PayloadU16::new(vec![1, 2]))",
        "def login(self, user='', passwd='', acct=''):",
        "input(prompt='Password: ', stream=None)",
        ":param password: Unicode password.",
        "['username', 'password', 'repository']",
        "credentials = _encode(self.username + ':' + self.password)",
        "client_secret: ApplicationClientSecretCredential",
        "RegEnumKey = win32api.RegEnumKey",
        "Set-Cookie: fig=newton",
        "5 * (3 + 4) = 35",
    ];
    let records = [
        json!({ "usage": { "prompt_tokens": 123, "completion_tokens": 456_789, "total_tokens": 4567, "max_tokens": 100_000 } }),
        json!({ "logprobs": [{ "token": " beautiful", "logprob": -0.1, "bytes": [32] }, { "token": "Ġgarden", "logprob": -1.5 }] }),
        json!({ "eos_token": "<|endoftext|>", "bos_token": "<s>", "pad_token": "[PAD]", "next_page_token": "CAUQAA9x8z7Q1wErTy" }),
        json!({ "key": "temperature", "value": 0.7 }),
        json!({ "key": "gold_answer_text", "name": "output_format" }),
        json!({ "type": "object", "properties": { "password": { "type": "string", "description": "The user's password" } } }),
        json!({ "name": "password", "type": "string", "description": "what the user types", "required": true }),
        json!({ "api_key": null, "password": "", "secret": "***", "token": "<token>", "client_secret": "YOUR_CLIENT_SECRET" }),
        json!({ "api_key": "${OPENAI_API_KEY}", "password": "$DB_PASSWORD", "apikey": "[redacted:secret]" }),
        json!({ "inputs": ["username", "password", "email_address"], "outputs": ["token", "expires"] }),
        json!({ "primary_key": "user_id_2", "cache_key": "a4aeb5c252e2309a90c2202469ba655b", "keys": ["a1", "b2"] }),
        json!({ "image": format!("data:image/png;base64,{image}"), "sha": "da39a3ee5e6b4b0d3255bfef95601890afd80709" }),
        json!({ "secretary": "Ada Lovelace 1843", "keynote": "9:30 in Hall 4B", "passenger": "J. Smith 42", "tokens": [101, 2023, 102] }),
        json!({ "authorization": "pre-approved", "cookie": "chocolate", "credentials": "Doctor of Medicine" }),
    ];
    let texts = texts.iter().map(|text| json!({ "text": text }));
    let alarms: Vec<String> = texts
        .chain(records)
        .filter_map(|record| {
            let text = record.to_string();
            let hits = in_record(text.as_bytes());
            (!hits.is_empty()).then(|| format!("{hits:?} in {text}"))
        })
        .collect();
    assert!(alarms.is_empty(), "{}:\n{}", alarms.len(), alarms.join("\n"));
}

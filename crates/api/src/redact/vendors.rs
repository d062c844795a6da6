//! Tokens with a vendor-specific format: the prefixes, lengths and alphabets that vendors document and secret
//! scanners publish, one kind per alternative.
//!
//! Most kinds start with literal text, so that the automaton rejects ordinary text early. Kinds whose
//! characteristic part occurs later are matched only after that part was detected.
//! Where the documented length varies, the pattern accepts more, so that no end of a longer token remains.
//! Formats shared with commit hashes, UUIDs or words are recognized by name only.

/// Allowed text directly before a token: a word boundary, an underscore, a percent-encoded character or an
/// escape of a JSON string. It is preserved.
macro_rules! left_edge {
    () => {
        r"((?-u:\b)|_|%[0-9A-Fa-f]{2}|\\[nrt])"
    };
}

/// Keys of Stripe, Google and SendGrid.
pub(super) const API_KEY: &str = concat!(
    left_edge!(),
    r"(?:[srp]k_(?:live|test|prod)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=_-]{24,}|AIza[A-Za-z0-9_-]{30,}",
    r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})",
);

/// Tokens of Slack, with the prefixes of all token types.
pub(super) const SLACK: &str =
    concat!(left_edge!(), r"(?:xox[a-z](?:\.xox[a-z])?-|xapp-|xwfp-)[A-Za-z0-9-]{10,}");

/// Characteristic parts in the middle or at the end of a token, in the order of [`MARKED_TOKEN`].
pub(super) const INNER_MARK: &str = concat!(
    r"[0-9]Q~|AZDO|\.atlasv1\.|NRAL|_mmk|[a-f0-9]-[a-f0-9]{8}-[a-f0-9]{8}|[a-f0-9]-us[0-9]",
    r"|[0-9]:A[A-Za-z0-9_-]{34}|\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}",
);

/// Tokens that contain one of these parts.
pub(super) const MARKED_TOKEN: &str = concat!(
    left_edge!(),
    "(?:",
    // Microsoft Azure: client secret, DevOps.
    r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,}|[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}",
    // Terraform, New Relic, MaxMind.
    r"|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}|[a-f0-9]{36}NRAL|[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?-u:\b)",
    // Mailgun, Mailchimp, Telegram, Discord.
    r"|[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}(?-u:\b)|[a-f0-9]{32}-us[0-9]{1,2}(?-u:\b)",
    r"|(?:bot)?[0-9]{5,16}:A[A-Za-z0-9_-]{34,}|[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
    ")",
);

/// All other kinds that are recognizable by their format alone.
pub(super) const TOKEN: &str = concat!(
    left_edge!(),
    "(?:",
    // Amazon: Bedrock.
    r"ABSK[A-Za-z0-9+/]{100,}={0,2}|bedrock-api-key-[A-Za-z0-9+/]{20,}={0,2}",
    // Google: OAuth client secret, access token, refresh token.
    r"|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,}|1//0[A-Za-z0-9_-]{40,}",
    // Alibaba, DigitalOcean, Fly.io, Heroku, Yandex.
    r"|LTAI[A-Za-z0-9]{16,}|do[opr]_v1_[a-f0-9]{40,}|fo1_[A-Za-z0-9_-]{40,}|fm[12][ar]?_[A-Za-z0-9+/_-]{100,}={0,3}",
    r"|HRKU-[A-Za-z0-9_-]{36,}|AQVN[A-Za-z0-9_-]{35,}|t1\.[A-Za-z0-9_-]+={0,2}\.[A-Za-z0-9_-]{86}={0,2}",
    // Cloudflare: origin CA. Netlify, Render, Scalingo, Vercel.
    r"|v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}|nfp_[A-Za-z0-9]{36,}|rnd_[A-Za-z0-9]{28,}|tk-us-[A-Za-z0-9_-]{48,}",
    r"|vercel_blob_rw_[A-Za-z0-9_]{30,}",
    // GitLab: all kinds, including routable tokens, and the registration token of runners.
    r"|gl(?:pat|dt|ft|imt|agent|oas|ptt|rt|rtr|soat|cbt|ffct|wt)-[A-Za-z0-9_-]{16,}(?:\.[A-Za-z0-9_-]+)*|GR1348941[A-Za-z0-9_-]{20,}",
    // Bitbucket and Atlassian.
    r"|AT(?:ATT|CTT|STT)3[A-Za-z0-9_=-]{20,}|ATBB[A-Za-z0-9_=-]{24,}",
    // Package and image registries.
    r"|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{20,}|rubygems_[a-f0-9]{40,}|cio[A-Za-z0-9]{32}(?-u:\b)",
    r"|dckr_[po]at_[A-Za-z0-9_-]{20,}|oy2[a-z0-9]{43}(?-u:\b)|CLOJARS_[A-Za-z0-9]{50,}",
    r"|AKCp[A-Za-z0-9]{60,}|cmVmdGtu[A-Za-z0-9]{50,}|sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}",
    // Continuous integration and deployment.
    r"|CCI(?:PAT|PRJ)_[A-Za-z0-9_]{20,}|bk[a-z]{1,2}_[a-f0-9]{40}|[ps]at\.[A-Za-z0-9_-]{22}\.[a-f0-9]{24}\.[A-Za-z0-9]{20}",
    r"|API-[A-Z0-9]{25,26}(?-u:\b)|pul-[a-f0-9]{40}|pn[ub]_[A-Za-z0-9]{36,}|ico-[A-Za-z0-9]{32}|sq[uap]_[a-f0-9]{40}",
    r"|sha256~[A-Za-z0-9_-]{40,}",
    // HashiCorp Vault. Doppler, 1Password, Infisical, age.
    r"|hv[sbr]\.[A-Za-z0-9_-]{20,}",
    r"|dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,}|ops_eyJ[A-Za-z0-9+/_-]{100,}={0,3}",
    r"|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}|st\.[a-f0-9]{24}\.[a-f0-9]{32}\.[a-f0-9]{32}",
    // Databases.
    r"|pscale_(?:pw|tkn|oauth)_[A-Za-z0-9_=.-]{32,}|sbp_[a-f0-9_]{40,}|sb_secret_[A-Za-z0-9_-]{20,}",
    r"|dapi[a-f0-9]{32}(?:-[0-9])?|mdb_sa_sk_[A-Za-z0-9_-]{30,}|pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|pcsk_[A-Za-z0-9_]{40,}",
    // Observability.
    r"|gl(?:c|sa)_[A-Za-z0-9+/_=]{32,}|eyJrIjoi[A-Za-z0-9]{60,}={0,3}|dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}",
    r"|NR(?:AK|II|IQ|RA|SP)-[A-Za-z0-9_-]{24,}|NRJS-[a-f0-9]{19}|sntr(?:ys|yu)_[A-Za-z0-9+/_=-]{40,}",
    r"|ph[xcs]_[A-Za-z0-9]{40,}|dnkey-[A-Za-z0-9_=-]{26}-[A-Za-z0-9_=-]{52}|lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}",
    // Messages: Mailgun, Brevo, Twilio.
    r"|(?:pub)?key-[a-f0-9]{32}",
    r"|xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}|(?:SK|AC)[a-f0-9]{32}(?-u:\b)",
    // Project tools: Linear, Notion, Airtable, Postman, ReadMe, Typeform, Figma, Contentful, HubSpot.
    r"|lin_(?:api|oauth|wh)_[A-Za-z0-9]{30,}|ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}(?-u:\b)",
    r"|PMAK-[a-f0-9]{24}-[a-f0-9]{34}|rdme_[a-z0-9]{70}|tfp_[A-Za-z0-9_.=-]{40,}|fig[duo]r?_[A-Za-z0-9_-]{40,}",
    r"|CFPAT-[A-Za-z0-9_-]{43}|pat-[a-z]{2}[0-9]-[0-9a-f]{8}-[0-9a-f-]{27}|sl\.(?:u\.)?[A-Za-z0-9_=-]{130,}",
    r"|p8e-[A-Za-z0-9]{32}|fio-u-[A-Za-z0-9_=-]{60,}|00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{60,}",
    // Payment and commerce: Square, Shopify, Plaid, Flutterwave, Duffel, EasyPost, Shippo.
    r"|sq0(?:csp|atp|idp)-[A-Za-z0-9_-]{20,}|EAAA[A-Za-z0-9_-]{60}(?-u:\b)|shp(?:at|ss|ca|pa|tka)_[a-fA-F0-9]{32}",
    r"|access-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f-]{27}|FLW(?:PUBK|SECK)(?:_TEST)?-[A-Za-z0-9]{30,}-X",
    r"|duffel_(?:test|live)_[A-Za-z0-9_=-]{43}|EZ[AT]K[A-Za-z0-9]{54}|shippo_(?:live|test)_[a-f0-9]{40}",
    // Networks: Tailscale, Facebook, Twitter, Mapbox.
    r"|tskey-[a-z]+-[A-Za-z0-9_-]{20,}|EAA[MC][A-Za-z0-9]{100,}|A{21}[A-Za-z0-9]*%[A-Za-z0-9%]{40,}",
    r"|[ps]k\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}",
    // AI models: Hugging Face, Groq, Perplexity, Replicate, xAI, ElevenLabs, OpenAI sessions.
    r"|hf_[A-Za-z0-9]{30,}|api_org_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}|pplx-[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{36,}",
    r"|xai-[A-Za-z0-9]{70,}|sk_[a-f0-9]{48}|sess-[A-Za-z0-9]{40}",
    // JSON Web Token, plain or base64-encoded once more.
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)*|ZXlK[A-Za-z0-9+/_-]{60,}={0,2}",
    ")",
);

/// Webhook URLs, which are credentials; the slashes may be escaped or percent-encoded.
pub(super) const WEBHOOK: &str = concat!(
    r"(?i)((?:hooks\.slack(?:-gov)?\.com(?:\\?/|%2F)(?:services|workflows|triggers)",
    r"|discord(?:app)?\.com(?:\\?/|%2F)api(?:(?:\\?/|%2F)v[0-9]+)?(?:\\?/|%2F)webhooks",
    r"|webhook\.office\.com(?:\\?/|%2F)webhookb2",
    r"|hooks\.zapier\.com(?:\\?/|%2F)hooks(?:\\?/|%2F)catch)",
    r"(?:\\?/|%2F))(?:[A-Za-z0-9@_-]|%40|\\?/|%2F)+",
);

const names = '(?:api[-_ ]?key|[-_]key|token|secret|passw(?:or)?d|authorization|signature|credential|cookie)';
const quotes = '[\\\\"\'`]{0,3}';
const schemes = '(?:(?:bearer|basic|token)\\s{1,4})?';
const value = '(?<secret>[^\\s"\'`\\\\,;&<>(){}[\\]*]{6,})';

/**
 * Expressions of credentials in the words of vendors, clients and servers; the group `secret` is the part to mask.
 * They begin at no place within a longer run of their characters, and repeat with a bound before what has to follow:
 * the time of a search is linear.
 */
export const secretPatterns: readonly RegExp[] = [
  // Keys by their vendors' prefixes, the gateway's own among them.
  /(?<![\w-])(?<secret>(?:sk|pk|rk|gw|ak|xai|gsk|hf|nvapi|pplx|fw|tgp|csk|r8|gh[oprsu]|github_pat|glpat|xox[abeoprs]|ya29)[-_.][\w.+/=-]{6,})/dg,
  /(?<![\w-])(?<secret>AIza[\w-]{20,}|(?:AKIA|ASIA|ABIA|ACCA)[A-Z\d]{12,})/dg,
  // JSON Web Tokens, also cut off.
  /(?<![\w-])(?<secret>eyJ[\w-]{8,}(?:\.[\w-]*){0,4})/dg,
  // Credentials by their scheme; "Bearer token is missing" has none.
  /\bbearer[\s:]{1,4}(?<secret>(?!(?:tokens?|auth(?:entication|orization)?|credentials?|scheme|header|realm|error)\b)[\w.~+/=-]{6,})/dgi,
  /\bbasic\s{1,4}(?<secret>(?=[A-Za-z+/]{0,200}[\d=])[\w+/=-]{6,})/dgi,
  // Values by their names: in JSON and queries; in headers and sentences where they have a digit.
  new RegExp(
    `${names}${quotes}\\s{0,3}(?:=>?|:(?=\\s{0,3}[\\\\"'\`]))\\s{0,3}${quotes}${schemes}${value}`,
    'dgi',
  ),
  new RegExp(`${names}${quotes}\\s{0,3}:\\s{0,3}${quotes}${schemes}(?=[^\\s\\d]{0,200}\\d)${value}`, 'dgi'),
  // Users and passwords of addresses, and the values of their queries.
  /:\/\/(?<secret>[^\s/?#"'<>]{1,400})@/dg,
  /[?&][\w.~%-]{1,60}=(?<secret>[^\s&#"'<>]+)/dg,
  /(?<secret>-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:(?!-----END)[\s\S])*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?)/dg,
  // Long runs of letters and digits: keys without a prefix, and encoded content; no UUID is as long.
  /(?<![\w-])(?<secret>(?=[A-Za-z_-]*\d)[\w-]{48,}={0,2})/dg,
];

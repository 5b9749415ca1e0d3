const secretKey = /keys?$|token|secret|passw|authorization|credential|cookie|^headers$/i;
const harmless =
  /^(tokenUrl|max_?tokens|countTokens|firstTokenTimeout|tokensPer(Minute|Day|Month)|tokens_per_(minute|day|month))$/i;
const blank = '***';

/**
 * Redacts a copy of a config: values under keys with a secret-like name, every header value, and in URLs the
 * user, the password and the query values.
 */
export function redactSecrets(value: unknown, isSecret = false): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => redactSecrets(item, isSecret));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(
      ([key, inner]: [string, unknown]) => [key, redactSecrets(inner, isSecret || isSecretKey(key))] as const,
    );
    return Object.fromEntries(entries);
  }
  if (isSecret) return blank;
  return typeof value === 'string' ? blankAddress(value) : value;
}

function isSecretKey(key: string): boolean {
  return secretKey.test(key) && !harmless.test(key);
}

/** Redacts a URL by pattern: a parser would reject a password that is not percent-encoded. */
function blankAddress(text: string): string {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return text;
  return text.replace(/(:\/\/)[^/?#]*@/, `$1${blank}@`).replace(/([?&][^=&#?]*=)[^&#]*/g, `$1${blank}`);
}

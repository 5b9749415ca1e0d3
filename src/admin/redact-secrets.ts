const secretKey = /keys?$|token|secret|passw|authorization|credential|cookie|^headers$/i;
const harmless =
  /^(tokenUrl|max_?tokens|countTokens|firstTokenTimeout|tokensPer(Minute|Day|Month)|tokens_per_(minute|day|month))$/i;
const blank = '***';

/**
 * A copy of a config in which nothing that could be a secret is left: what stands under a key that sounds like one, every
 * header value, and in addresses the user and the values of the query.
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

/** Not a parser, which would give up where a password has not been encoded. */
function blankAddress(text: string): string {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return text;
  return text.replace(/(:\/\/)[^/?#]*@/, `$1${blank}@`).replace(/([?&][^=&#?]*=)[^&#]*/g, `$1${blank}`);
}

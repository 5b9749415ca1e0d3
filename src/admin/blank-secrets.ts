const secretKey = /key$|token|secret|password|authorization|credential|cookie/i;
const harmless = new Set(['tokenUrl', 'max_tokens', 'maxTokens', 'countTokens']);
const blank = '***';

/** A copy of a config in which nothing that could be a secret is left: by key, every header value, and URLs' user info. */
export function blankSecrets(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => blankSecrets(item, key));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(
      ([name, inner]) => [name, blankEntry(key, name, inner)] as const,
    );
    return Object.fromEntries(entries);
  }
  return typeof value === 'string' ? value.replace(/(\/\/)[^/@\s]+@/g, `$1${blank}@`) : value;
}

function blankEntry(parent: string, name: string, value: unknown): unknown {
  const isSecret = parent === 'headers' || (secretKey.test(name) && !harmless.has(name));
  const isPlain = typeof value === 'string' || typeof value === 'number';
  return isSecret && isPlain ? blank : blankSecrets(value, name);
}

/** Size of the parts of a body that become input tokens, with their names. */
export function promptBytes(body: object, parts: readonly string[]): number {
  const fields = body as Readonly<Record<string, unknown>>; // any object may be read by name
  let bytes = 0;
  for (const name of parts) {
    const json = JSON.stringify(fields[name]) as string | undefined; // none for a part that is not there
    if (json !== undefined) bytes += Buffer.byteLength(json) + `"${name}":,`.length;
  }
  return Math.max(1, bytes);
}

/**
 * The same for a body of known size: measures only its few settings, never its prompt. With the other measure a token
 * count and the estimate of an answer's input are the same.
 */
export function promptBytesOf(body: object, totalBytes: number, parts: readonly string[]): number {
  const fields = body as Readonly<Record<string, unknown>>; // any object may be read by name
  const settings: Record<string, unknown> = {};
  for (const name in fields) if (!parts.includes(name)) settings[name] = fields[name];
  return Math.max(1, totalBytes - Buffer.byteLength(JSON.stringify(settings)));
}

/** Path of what is lost of a last assistant message at `path` that is sent, and answered instead of continued. */
export function prefillPath(path: string): string {
  return `${path}.prefix`;
}

/**
 * True for models that take a ttl on cache markers: Claude 4.5 and later, and names that tell no version, such as the
 * ARN of an application's inference profile.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */
export function takesTtl(model: string): boolean {
  const [, old, major, minor = '0'] = version.exec(model.slice(0, 300)) ?? [];
  if (old !== undefined) return false;
  return major === undefined || Number(major) > 4 || (Number(major) === 4 && Number(minor) >= 5);
}

/** `claude-sonnet-4-5-20250929`, `claude-3-5-haiku-20241022`, `claude-v2`, `claude-instant-v1`. */
const version = /claude-(?:(instant|v\d)|(?:[a-z]+-)?(\d{1,2})(?:-(\d{1,2})(?!\d))?)/;

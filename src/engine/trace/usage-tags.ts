/** Usage tags of one request, by name. */
export type UsageTags = Readonly<Record<string, string>>;

/** Max usage tags of one request. */
const maxTags = 8;

/** Names of usage tags, as a pattern of JSON Schema. */
export const tagNamePattern = '^[A-Za-z][A-Za-z0-9_.-]{0,39}$';

const tagName = new RegExp(tagNamePattern);
const maxValueLength = 100;

/**
 * Copy of `tags` with one more; an empty value removes it. Throws a RangeError on a bad name and on one tag
 * too many.
 */
export function withTag(tags: UsageTags | undefined, name: string, value: string): UsageTags | undefined {
  if (!tagName.test(name))
    throw new RangeError(
      `A usage tag cannot have the name ${JSON.stringify(name)}: a name is a letter followed by at most 39 letters, digits, "_", "." and "-".`,
    );
  const { [name]: _, ...others } = tags ?? {};
  const text = plainValue(value);
  const names = Object.keys(others);
  if (text === '') return names.length === 0 ? undefined : others;
  if (names.length >= maxTags)
    throw new RangeError(`A request has at most ${maxTags} usage tags; "${name}" would be one more.`);
  return { ...others, [name]: text };
}

/** A value in the form that every database takes: cut, well-formed, without control characters. */
function plainValue(value: string): string {
  const wellFormed = Buffer.from(value.slice(0, maxValueLength)).toString();
  return wellFormed.replaceAll(/\p{Cc}/gu, ' ').trim();
}

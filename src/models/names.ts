/** A vendor's name of a model, taken apart at its segments. */
interface NameParts {
  /** Without the version: `claude-sonnet-5`. */
  readonly undated: string;
  /** Without the vendor's prefix too: `sonnet-5`. */
  readonly short: string;
  /** It names one version by its date. */
  readonly isDated: boolean;
}

/**
 * The parts of `claude-sonnet-5`, `claude-sonnet-5-20260101`, `claude-sonnet-5@20260101` or
 * `claude-sonnet-5-latest`; undefined where there is neither prefix nor version.
 */
export function partsOf(name: string): NameParts | undefined {
  if (name.length > maxNameLength) return undefined;
  const version = versions.exec(name)?.[0] ?? '';
  const undated = name.slice(0, name.length - version.length);
  const short = undated.startsWith(prefix) ? undated.slice(prefix.length) : undated;
  return short === name || short === '' ? undefined : { undated, short, isDated: /\d/.test(version) };
}

/** The name that all forms of a model's name have in common. */
export function shortName(name: string): string {
  return partsOf(name)?.short ?? name;
}

/** Longer texts name no model: foreign names are kept and searched. */
export const maxNameLength = 200;

const prefix = 'claude-';
const versions = /[-@](?:20\d{6}|latest)$/;

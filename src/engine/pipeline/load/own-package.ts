import { formerPackageName, packageName } from '../../../kit/version.js';

/** Specifier of a door of this package, for one under its name or its former one; undefined for all others. */
export function ownSpecifier(specifier: string): string | undefined {
  for (const name of [packageName, formerPackageName])
    if (specifier === name || specifier.startsWith(`${name}/`))
      return `${packageName}${specifier.slice(name.length)}`;
  return undefined;
}

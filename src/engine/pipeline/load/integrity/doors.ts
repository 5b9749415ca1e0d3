import { readFileSync } from 'node:fs';
import { PluginFiles } from '../import/plugin-files.js';
import { ownSpecifier, packageName } from '../../../../kit/version.js';

/**
 * Public modules of this package that a plugin's file, and those of its folder that it imports, name in their imports:
 * `plugin` and `plugin/raw` of `@gw2api/gateway/plugin` and `@gw2api/gateway/plugin/raw`.
 */
export function doorsOf(file: string, root: string): readonly string[] {
  const files = new PluginFiles().list(file, root);
  const specifiers = files.flatMap((one) =>
    [...readFileSync(one, 'utf8').matchAll(packageImport)].map(([, , name = '']) => name),
  );
  const doors = specifiers.flatMap((specifier) => {
    const own = ownSpecifier(specifier);
    return own?.startsWith(`${packageName}/`) ? [own.slice(packageName.length + 1)] : [];
  });
  return [...new Set(doors)].toSorted();
}

/** `from 'NAME'`, `import 'NAME'`, `import('NAME')`, `require('NAME')` of a package. */
const packageImport = /\b(?:from|import|require)\s{0,9}\(?\s{0,9}(['"])(@?[a-z][^'"\n?#]{0,200})\1/g;

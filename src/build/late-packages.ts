import type { Plugin } from 'rolldown';

const load = /createRequire\(import\.meta\.url\)\((?='ajv'\))/g;

/**
 * Plugin that bundles what a module loads on first use by `createRequire`, which would look for it among the installed
 * packages. Lines keep their columns.
 */
export const latePackages: Plugin = {
  name: 'late-packages',
  transform(code) {
    const bundled = code.replaceAll(load, (text) => 'require('.padStart(text.length));
    return bundled === code ? undefined : { code: bundled, map: null };
  },
};

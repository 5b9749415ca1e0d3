import http from 'node:http';
import type { Plugin } from 'rolldown';

const id = '\0http';

/**
 * Plugin that has modules take `node:http` by `process.getBuiltinModule`: an import statement reads all of its getters,
 * which loads Node's own fetch.
 */
export const lazyHttp: Plugin = {
  name: 'lazy-http',
  resolveId(source, _importer, { kind }) {
    return kind === 'import-statement' && /^(?:node:)?http$/.test(source) ? id : undefined;
  },
  load(module) {
    return module === id ? source() : undefined;
  },
};

function source(): string {
  const properties = Object.entries(Object.getOwnPropertyDescriptors(http));
  const names = properties.filter(([, property]) => !('get' in property)).map(([name]) => name);
  return `const http = process.getBuiltinModule('node:http');
export default http;
export const { ${names.join(', ')} } = http;`;
}

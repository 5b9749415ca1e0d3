import type { Plugin } from 'rolldown';

const id = '\0undici';

/** Modules of undici by the names that its index gives them. */
const parts = {
  Client: 'dispatcher/client',
  EnvHttpProxyAgent: 'dispatcher/env-http-proxy-agent',
  Pool: 'dispatcher/pool',
  ProxyAgent: 'dispatcher/proxy-agent',
  buildConnector: 'core/connect',
  errors: 'core/errors',
};

/**
 * Plugin that takes from undici what is imported: its index also loads `fetch`, mocks, caches and WebSockets. An
 * import of another name fails the build.
 */
export const undiciParts: Plugin = {
  name: 'undici-parts',
  resolveId: (source) => (source === 'undici' ? id : undefined),
  load: (module) => (module === id ? source() : undefined),
};

function source(): string {
  const exported = Object.entries(parts).map(
    ([name, path]) => `export { default as ${name} } from 'undici/lib/${path}.js';`,
  );
  return `${exported.join('\n')}
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import api from 'undici/lib/api/index.js';
Object.assign(Dispatcher.prototype, api); // as its index does
`;
}

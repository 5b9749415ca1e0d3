import {
  accountForm,
  upstreamForm,
  type AccountKind,
  type DefinitionForm,
  type UpstreamKind,
} from '../../../plugin/core.js';
import { checkFields, type Loadable, type PluginKind } from './load-plugin.js';

type Definition = object & { readonly name: string; readonly open: unknown };

/** Upstreams: the result of `defineUpstream` or a similar object. */
export const upstreamKind: PluginKind<UpstreamKind> = {
  folder: 'upstreams',
  expected: 'an upstream',
  fields: 'name and open',
  define: defining(upstreamForm),
};

/** Accounts: the result of `defineAccount` or a similar object. */
export const accountKind: PluginKind<AccountKind> = {
  folder: 'accounts',
  expected: 'an account',
  fields: 'name and open',
  define: defining(accountForm),
};

/** Returns one definition for one export, so that slots with the same plugin continue over a reload. */
function defining<Kind extends Loadable>(form: DefinitionForm<Definition, Kind>) {
  const known = new WeakMap<object, Kind>();
  return (exported: unknown): Kind | undefined => {
    if (!isDefinition(exported)) return undefined;
    checkFields(exported, form);
    const kind = known.get(exported) ?? form.normalize(exported);
    known.set(exported, kind);
    return kind;
  };
}

function isDefinition(value: unknown): value is Definition {
  if (typeof value !== 'object' || value === null) return false;
  return (
    'name' in value && typeof value.name === 'string' && 'open' in value && typeof value.open === 'function'
  );
}

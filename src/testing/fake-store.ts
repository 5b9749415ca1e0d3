import type { Binding, OAuthTokens, ProtocolKey, Store, StoredResponse } from '../plugin/index.js';

/** A store in memory that forgets nothing on its own: expiry is left to the real ones. */
export function fakeStore(): Store {
  const keys = new Map<string, ProtocolKey>();
  const credentials = new Map<string, OAuthTokens>();
  const bindings = new Map<string, Binding>();
  const responses = new Map<string, StoredResponse>();
  return {
    keys: {
      findByHash: async (hash) => keys.get(hash),
      put: async (key) => void keys.set(key.hash, key),
    },
    credentials: {
      get: async (slotId) => credentials.get(slotId),
      put: async (slotId, tokens) => void credentials.set(slotId, tokens),
    },
    bindings: {
      get: async (key) => bindings.get(key),
      put: async (key, binding) => void bindings.set(key, binding),
      delete: async (key) => void bindings.delete(key),
    },
    responses: {
      get: async (owner, id) => responses.get(`${owner} ${id}`),
      put: async (response) => void responses.set(`${response.owner} ${response.id}`, response),
      delete: async (owner, id) => responses.delete(`${owner} ${id}`),
    },
    close: async () => undefined,
  };
}

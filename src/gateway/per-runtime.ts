import type { Gateway } from './gateway.js';
import type { Runtime } from './runtime.js';

/** Makes a value from the runtime in force, once for each. */
export function perRuntime<Value>(
  gateway: Pick<Gateway, 'runtime'>,
  make: (runtime: Runtime) => Value,
): () => Value {
  let made: { readonly runtime: Runtime; readonly value: Value } | undefined;
  return () => {
    const { runtime } = gateway;
    if (made?.runtime !== runtime) made = { runtime, value: make(runtime) };
    return made.value;
  };
}

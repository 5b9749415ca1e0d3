import type { Runtime } from './runtime.js';

/** Makes a value from a runtime, once for each. */
export function perRuntime<Value extends object>(
  make: (runtime: Runtime) => Value,
): (runtime: Runtime) => Value {
  const made = new WeakMap<Runtime, Value>();
  return (runtime) => {
    const known = made.get(runtime);
    if (known) return known;
    const value = make(runtime);
    made.set(runtime, value);
    return value;
  };
}

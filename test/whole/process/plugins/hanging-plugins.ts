/** Never settles, as the source of a plugin. */
export const never = 'new Promise(() => undefined)';

/** Plugins by the step that never ends. */
export const hanging = {
  'setup.mjs': `export default { name: 'hangs', setup: () => ${never} };`,
  'import.mjs': `await ${never}; export default { name: 'hangs', setup: () => (ctx, next) => next() };`,
  'dispose.mjs': `export default { name: 'hangs', setup(_, host) {
    host.onDispose(() => ${never}); return (ctx, next) => next(); } };`,
  'start.mjs': `export default { name: 'hangs', setup: () => ({ start: () => ${never} }) };`,
  // One that keeps the process busy as well.
  'busy.mjs': `export default { name: 'hangs', setup: () => { setInterval(() => undefined, 1000); return ${never}; } };`,
};

/** A config with a plugin in the second place. */
export function yaml(plugin: string, more = ''): string {
  const uses = ['auth', plugin, 'body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'];
  const pipeline = uses.map((use) => `  - use: ${use}\n`).join('');
  return `pipeline:\n${pipeline}slots: [{ id: a, upstream: simulator }]\n${more}`;
}

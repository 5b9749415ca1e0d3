import module from 'node:module';
import { resolveSync } from './plugin-hook.js';

// Importing this module lets every module of the process import `gw2api/plugin`. It is imported only where a plugin from
// outside is listed, and runs once a process, as every module does.

/** `module.registerHooks` of Node 22.15 and later, which the types of Node 20 lack. */
type RegisterHooks = (hooks: { resolve: typeof resolveSync }) => void;

const { registerHooks } = module as { registerHooks?: RegisterHooks } & typeof module;
if (registerHooks) registerHooks({ resolve: resolveSync });
else module.register('./plugin-hook.js', import.meta.url);

import type { Status } from '../api/types.js';
import { createStore } from './store.js';

/** How the gateway was when it was last asked, which the shell does all the time. */
export const status = createStore<Status | undefined>(undefined);

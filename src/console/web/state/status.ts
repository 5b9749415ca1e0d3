import type { Status } from '../api/status.js';
import { createStore } from './store.js';

/** Last status of the gateway, polled by the shell. */
export const status = createStore<Status | undefined>(undefined);

import { createStore } from './store.js';
import type { Static } from 'typebox';
import type { PageReport, StatusReport } from '../../../operator/status.js';
import { call, fetchList } from '../api/call.js';

export type Status = Static<typeof StatusReport>;

/** A page that a plugin brings. */
export type PluginPage = Static<typeof PageReport>;

export const fetchStatus = (signal?: AbortSignal) => call<Status>('GET', '/status', { signal });
export const fetchPluginPages = (signal?: AbortSignal) => fetchList<PluginPage>('/pages', signal);

/** Last status of the gateway, polled by the shell. */
export const status = createStore<Status | undefined>(undefined);

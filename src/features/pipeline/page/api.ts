import type { Static } from 'typebox';
import { call, type List } from '../../../console/web/api/call.js';
import type { StageReport, PreviewReport } from '../panel.js';

export type Stage = Static<typeof StageReport>;
export interface Pipeline extends List<Stage> {
  readonly file: string | null;
}

/** An option of a stage. */
export type Field = Stage['fields'][number];

export type ReloadPreview = Static<typeof PreviewReport>;

/** Result of a reload as far as the page shows it. */
interface Reloaded {
  readonly needs_restart: readonly string[];
}

export const fetchPipeline = (signal?: AbortSignal) => call<Pipeline>('GET', '/pipeline', { signal });
export const previewReload = (signal?: AbortSignal) => call<ReloadPreview>('GET', '/reload', { signal });
export const reloadConfig = () => call<Reloaded>('POST', '/reload');

import type { Static } from 'typebox';
import { call, type List } from '../../../console/web/api/call.js';
import type { PipelineReport, StageReport, PreviewReport } from '../panel.js';

/** A stage; `mark` says how one of a named pipeline differs from the pipeline that it extends. */
export type Stage = Static<typeof StageReport> & { readonly mark?: NamedPipeline['stages'][number]['mark'] };
export type NamedPipeline = Static<typeof PipelineReport>;
export interface Pipeline extends List<Stage> {
  readonly file: string | null;
  readonly pipelines: readonly NamedPipeline[];
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

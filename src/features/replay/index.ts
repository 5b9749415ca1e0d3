/** The door of this room. */
export { audit, userName, type AuditEntry } from './audit.js';
export { RecordedFiles } from './recorded-files.js';
export { replay } from './replay.js';
export { replayText } from './verb/report-text.js';
export type { ReplayReport } from './report.js';

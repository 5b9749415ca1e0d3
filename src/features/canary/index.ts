/** The door of this room. */
export { Canary, type CanaryPlace } from './canary.js';
export { evidenceOf, falseAlarmRate } from './evidence.js';
export { failedSessions, firstTokenPercentile, type CanaryFigures, type SideFigures } from './figures.js';
export type { CanarySide } from './side.js';

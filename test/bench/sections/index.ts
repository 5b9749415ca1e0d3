import { workloads } from '../workloads.js';
import { cacheLedger } from './cache-ledger.js';
import { connects } from './connects.js';
import { cpuSection } from './cpu.js';
import { earlyPings } from './early-pings.js';
import { heldStreams, waitingStreams } from './held-streams.js';
import type { Section } from './section.js';
import { isolatedBatches, remoteCalls } from './outside.js';
import { slowReader } from './slow-reader.js';
import { slowStreams } from './slow-streams.js';
import { start } from './start.js';
import { state } from './state.js';
import { translate } from './translate.js';
import { values } from './values.js';
import { workers } from './workers.js';

/** All that is measured, in this order. */
export const sections: readonly Section[] = [
  ...workloads.map(cpuSection),
  slowStreams(200, { passThrough: 1.2, portkey: 0.45, addedMs: 0.2, rssKb: 150 }),
  slowStreams(1000, { passThrough: 1.65, portkey: 0.55 }),
  slowReader,
  heldStreams,
  waitingStreams,
  earlyPings,
  workers,
  state,
  start,
  remoteCalls,
  isolatedBatches,
  connects,
  values,
  cacheLedger,
  translate,
];

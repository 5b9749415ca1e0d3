import { writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { StuckLog } from './watchdog.js';

/**
 * Writes an error line to standard output at once: what a thread logs goes through the loop of the main thread. Gives
 * up after a second where nobody reads it.
 */
export async function writeStuckLine(
  { level, format, fields }: StuckLog,
  own: object,
  msg: string,
): Promise<void> {
  if (level === 'silent' || level === 'fatal') return;
  const line = `${JSON.stringify({ level: 'error', time: new Date().toISOString(), ...fields, ...own, msg })}\n`;
  let rest = Buffer.from(format === 'pretty' ? await pretty(line) : line);
  for (let tries = 0; rest.length > 0 && tries < maxTries; tries += 1) {
    rest = rest.subarray(written(rest));
    if (rest.length > 0) await delay(pauseMs);
  }
}

async function pretty(line: string): Promise<string> {
  const { prettyLine } = await import('../../gateway/telemetry/pretty-line.js');
  return prettyLine(line, false);
}

/** Number of bytes that were written; 0 where the pipe is full or closed. */
function written(bytes: Buffer): number {
  try {
    return writeSync(1, bytes);
  } catch {
    return 0; // tried again, for a second at most
  }
}

const maxTries = 20;
const pauseMs = 50;

import { ConfigError, type SlotPluginsConfig } from '../../config/config.js';
import { LateError, within } from '../../kit/time/within.js';
import type { UpstreamSlot } from './upstream/upstream-slot.js';

/** Default time limit for a plugin of a slot to open. */
const openTimeoutMs = 10_000;

interface Closable {
  close(): Promise<void>;
}

/**
 * Waits for a plugin of a slot to open. Throws a ConfigError that names the plugin and its place; closes one that opens
 * after the time limit.
 */
export async function openInTime<Part extends Closable>(
  config: SlotPluginsConfig,
  part: 'upstream' | 'account',
  open: () => Promise<Part>,
  timeoutMs = openTimeoutMs,
): Promise<Part> {
  const late = `was not opened within ${timeoutMs / 1000} s: its open waits for something that never happens`;
  const work = open();
  try {
    return await within(work, timeoutMs, late);
  } catch (error) {
    if (error instanceof LateError && error.message === late) {
      work.then((opened) => opened.close()).catch(() => undefined); // no longer awaited
      throw refused(config, part, late);
    }
    throw refused(
      config,
      part,
      `cannot be opened: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Starts an open slot. Throws a ConfigError that names its plugin and its place, if one fails or hangs. */
export async function startInTime(
  config: SlotPluginsConfig,
  slot: UpstreamSlot,
  timeoutMs = openTimeoutMs,
): Promise<void> {
  const late = `did not start within ${timeoutMs / 1000} s: its start waits for something that never happens`;
  await slot.start(async (part, start) => {
    try {
      await within(start(), timeoutMs, late);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw refused(config, part, error instanceof LateError ? why : `cannot be started: ${why}`);
    }
  });
}

function refused(config: SlotPluginsConfig, part: 'upstream' | 'account', message: string): ConfigError {
  const { path, upstream, account } = config;
  const [place, subject] =
    part === 'upstream' ? [['upstream'], upstream] : [['account', 'kind'], account?.kind ?? 'none'];
  return new ConfigError([
    { at: config.positionOf(place), path: `${path}.${place.join('.')}`, subject, message },
  ]);
}

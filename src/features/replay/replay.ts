import type { Config } from '../../config/config.js';
import type { DrySettings } from '../dry-run/settings.js';
import type { OpenGateway } from '../../gateway/gateway.js';
import type { Host } from '../../plugin/index.js';
import { DifferenceGroups } from './groups.js';
import type { RecordedFile, RecordedFiles } from './recorded-files.js';
import type { ReplayReport, SkippedFile } from './report.js';
import { Side } from './side.js';

export interface ReplayOptions {
  readonly old: Config;
  readonly new: Config;
  readonly openGateway: OpenGateway;
  readonly recorded: RecordedFiles;
  /** Opens the recordings. */
  readonly secrets: Pick<Host['secrets'], 'open'>;
  /** Start of the replayed recordings, unix milliseconds. */
  readonly sinceMs: number;
  /** Max recordings, the newest. */
  readonly limit: number;
  /** Scenarios in place of slots, in both configs. */
  readonly slots: Readonly<Record<string, readonly string[]>>;
  readonly withTexts: boolean;
  /** Notified of the number of finished recordings. */
  readonly onProgress: (done: number, all: number) => void;
}

/**
 * Runs recorded requests through two configs dry, one after another, the oldest first. Throws a ConfigError, and an
 * Error if the folder cannot be read.
 */
export async function replay(options: ReplayOptions): Promise<ReplayReport> {
  const startMs = performance.now();
  const { files, leftOut } = await options.recorded.newest(options);
  const groups = new DifferenceGroups(options);
  const skipped: SkippedFile[] = [];
  const sides = await openSides(options, files[0]?.atMs);
  try {
    for (const [at, file] of files.entries()) {
      const reason = await replayFile(file, sides, options, groups);
      if (reason !== undefined) skipped.push({ file: options.recorded.pathOf(file.name), reason });
      options.onProgress(at + 1, files.length);
    }
  } finally {
    for (const side of sides) await side.close();
  }
  return {
    old: options.old.file,
    new: options.new.file,
    requests: files.length - skipped.length,
    different: groups.different,
    groups: groups.groups,
    ungrouped: groups.ungrouped,
    skipped,
    leftOut,
    ...(files.length > 0 && { fromMs: files[0]?.atMs, toMs: files.at(-1)?.atMs }),
    durationMs: performance.now() - startMs,
  };
}

type Sides = readonly [old: Side, now: Side];

async function openSides(
  { old, new: next, openGateway, slots }: ReplayOptions,
  startMs: number | undefined,
): Promise<Sides> {
  const settings = (config: Config): DrySettings => ({
    slots: Object.fromEntries(
      Object.entries(slots).filter(([id]) => config.slots.some((slot) => slot.id === id)),
    ),
    ...(startMs !== undefined && { startMs }),
  });
  const first = await Side.open(old, openGateway, settings(old));
  try {
    return [first, await Side.open(next, openGateway, settings(next))];
  } catch (error) {
    await first.close();
    throw error;
  }
}

/** Sends one recording to both sides; returns the reason if it could not be replayed. */
async function replayFile(
  { name }: RecordedFile,
  [old, now]: Sides,
  { recorded, secrets }: ReplayOptions,
  groups: DifferenceGroups,
): Promise<string | undefined> {
  try {
    const recording = await recorded.read(name, secrets);
    if (!recording) return 'it was deleted in the meantime';
    groups.add(recording.requestId, await old.send(recording), await now.send(recording));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

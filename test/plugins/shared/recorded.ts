import type { Host } from '@gw2api/gateway/plugin';
import { readRecording, recordingsIn, type Recording } from '#plugins/shared/recordings.js';

/** All recordings of a folder, the oldest first. */
export async function recordedIn(
  folder: string,
  secrets: Pick<Host['secrets'], 'open'>,
): Promise<readonly Recording[]> {
  const list: Recording[] = [];
  for await (const { name } of recordingsIn(folder)) {
    const recording = await readRecording(folder, name, secrets);
    if (recording) list.push(recording);
  }
  return list.toSorted((one, other) => one.atMs - other.atMs);
}

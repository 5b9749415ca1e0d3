import { writeFile } from 'node:fs/promises';
import type { Session } from 'node:inspector/promises';

/** Message to a process that has this module preloaded, which answers each with one of its own. */
export type ProbeMessage =
  | { readonly probe: 'memory' }
  | { readonly probe: 'profile' }
  /** Ends the profile and writes it there. */
  | { readonly probe: 'end-profile'; readonly file: string };

let session: Session | undefined;

process.on('message', (message: ProbeMessage) => {
  void answerTo(message).then((answer) => process.send?.(answer));
});
process.channel?.unref();

async function answerTo(message: ProbeMessage): Promise<object> {
  if (message.probe === 'memory') {
    globalThis.gc?.();
    return process.memoryUsage();
  }
  if (message.probe === 'profile') await startProfile();
  else await endProfile(message.file);
  return {};
}

async function startProfile(): Promise<void> {
  const { Session } = await import('node:inspector/promises');
  session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: samplingMicros });
  await session.post('Profiler.start');
}

const samplingMicros = 250;

async function endProfile(file: string): Promise<void> {
  const { profile } = (await session?.post('Profiler.stop')) ?? {};
  session?.disconnect();
  await writeFile(file, JSON.stringify(profile));
}

import { fstatSync } from 'node:fs';

/** Ends the process once standard output has taken the waiting lines, or after 2 s. */
export async function exitWhenWritten(code: number): Promise<never> {
  if (isPipe() && process.stdout.writable) await untilWritten();
  return process.exit(code);
}

/**
 * True if another program, which may stop reading, reads standard output; a file or a terminal is written at once.
 */
export function isPipe(): boolean {
  try {
    const stat = fstatSync(1);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    return false; // closed by the program that started this one
  }
}

function untilWritten(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, maxExitMs);
    process.stdout.write('', () => resolve());
  });
}

const maxExitMs = 2000;

import { readFileSync } from 'node:fs';
import module from 'node:module';

/** A suite of stages in child processes, which need Node 22.15. */
export function isolatedSuite(title: string, define: (this: Mocha.Suite) => void): void {
  // Looked up at each call: a worker of mocha has other globals for each file.
  const suite = 'registerHooks' in module ? describe : describe.skip;
  suite(title, define);
}

/** Module of a stage with this definition and this `setup`. */
export function stageModule(definition: string, setup: string, head = ''): string {
  return `import * as sdk from '@gw2api/gateway/plugin';
${head}
export default { name: 'own', ${definition} setup(options, host) { ${setup} } };`;
}

/** The default pipeline with an entry below format-decode. */
export function withStage(entry: object, pipeline: readonly object[]): readonly object[] {
  const at = pipeline.findIndex((stage) => 'use' in stage && stage.use === 'format-decode');
  return pipeline.toSpliced(at + 1, 0, entry);
}

/** False also for a process that has ended, but that its parent has not taken note of. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false; // no such process
  }
}

import module from 'node:module';

/** A suite of stages in child processes, which need Node 22.15. */
export const isolatedSuite: Mocha.SuiteFunction | Mocha.PendingSuiteFunction =
  'registerHooks' in module ? describe : describe.skip;

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

/** A part of a slot that only its owner knows. */
export interface Blank {
  /** Its name for `--set NAME=VALUE`. */
  readonly name: string;
  /** Placeholder for it in the slot. */
  readonly text: string;
  /** Question at a terminal. */
  readonly question: string;
  /** Variables of the environment that have it. */
  readonly env?: readonly string[];
  /** True: the placeholder works, too. */
  readonly isOptional?: boolean;
}

export const resource: Blank = { name: 'resource', text: 'RESOURCE', question: 'Name of the Azure resource' };
export const region: Blank = {
  name: 'region',
  text: 'us-east-1',
  question: 'Region',
  env: ['AWS_REGION', 'AWS_DEFAULT_REGION'],
  isOptional: true,
};
export const workspace: Blank = { name: 'workspace', text: 'WORKSPACE', question: 'Id of the workspace' };
export const keyFile = (text: string): Blank => ({
  name: 'keyFile',
  text,
  question: 'File with the key of a service account',
  env: ['GOOGLE_APPLICATION_CREDENTIALS'],
});
export const project = (text: string): Blank => ({
  name: 'project',
  text,
  question: 'Id of the Google Cloud project',
  env: ['GOOGLE_CLOUD_PROJECT', 'ANTHROPIC_VERTEX_PROJECT_ID'],
});

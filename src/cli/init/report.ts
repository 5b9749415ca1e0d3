import path from 'node:path';
import { programFile } from '../../kit/package-files.js';
import type { FirstCall } from '../first-call.js';
import { configFile } from './add.js';
import type { Choice } from './choice.js';
import { simulator } from './providers.js';
import { packageName } from '../../kit/version.js';

/** Result of an `init`. */
export interface Written {
  readonly files: readonly string[];
  /** Variables of `.env` that are unchanged. */
  readonly staying: readonly string[];
  /** Model of the tests and of the first request. */
  readonly model: string;
  /** Undefined: none was made. */
  readonly call: FirstCall | undefined;
}

/** Report of the files written, of the first call, and of the next steps. */
export function report(choice: Choice, { files, staying, model, call }: Written): string {
  const { provider, slot, present } = choice;
  const kept =
    staying.length > 0 ? `; ${staying.join(', ')} stay${staying.length === 1 ? 's' : ''} as before` : '';
  const head = present
    ? `Slot "${slot.id}" (${provider.name}) is added to ${configFile}:`
    : `A config for ${provider.name} is written:`;
  const takeAny = present?.takeAny.filter((id) => id !== slot.id) ?? [];
  return [
    head,
    ...files.map((file) => `  ${file}`),
    `  .env (keys, readable by you alone; keep it out of version control${kept})`,
    ...(provider.note === undefined ? [] : ['', `Note: ${provider.note}`]),
    ...(takeAny.length === 0 ? [] : ['', sharing(takeAny)]),
    ...(call === undefined ? [] : ['', callText(call)]),
    '',
    'Next:',
    ...steps(choice, { staying, model, call }).map((step, at) => `  ${at + 1}. ${step}`),
    '',
  ].join('\n');
}

function sharing(ids: readonly string[]): string {
  const names = ids.map((id) => `"${id}"`).join(', ');
  return `Note: ${names} accept${ids.length === 1 ? 's' : ''} any model, and so some of the requests for this slot; name the models under \`models\`, or remove the slot.`;
}

function callText({ state, text }: FirstCall): string {
  if (state === 'answered') return `The first call works: ${text}.`;
  return state === 'failed' ? `The first call FAILED: ${text}` : `The first call was not made: ${text}.`;
}

function steps(
  { provider, slot, port, folder, keys, present }: Choice,
  { staying, model, call }: Omit<Written, 'files'>,
): readonly string[] {
  const missing = Object.entries(keys).flatMap(([name, value]) =>
    value || staying.includes(name) ? [] : [name],
  );
  const command = commandName();
  const shownFolder = path.relative(process.cwd(), folder);
  const isReachable = provider !== simulator && call?.state !== 'answered';
  return [
    ...(shownFolder === '' ? [] : [`cd ${shownFolder}`]),
    ...slot.missing.map((text) => `replace ${text} in config/*.yaml with your own`),
    ...missing.map((name) => `put the key into .env: ${name}=…`),
    `${command} test             run the tests of the config; nothing leaves the machine`,
    ...(isReachable
      ? [`${command} check --online   reach the provider, and show the models that it has`]
      : []),
    `${command} doctor --online  look for what would keep it from serving, and call each slot once`,
    present
      ? `reload the gateway (SIGHUP, or the console)`
      : `${command}                  serve; the console is http://127.0.0.1:${port}/panel, its password GW2API_API_KEY of .env`,
    ...(present ? [] : [firstRequest(port, model)]),
  ];
}

function firstRequest(port: number, model: string): string {
  const body = { model, max_tokens: 256, messages: [{ role: 'user', content: 'Hello!' }] };
  const key = `$(sed -n 's/^GW2API_API_KEY=//p' .env)`;
  return `curl http://127.0.0.1:${port}/v1/messages -H "authorization: Bearer ${key}" -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
}

/** The command as it is called here: by its name if the package is installed. */
function commandName(): string {
  const server = programFile('server.js');
  return server.includes(`${path.sep}node_modules${path.sep}`)
    ? `npx ${packageName}`
    : `node ${path.relative(process.cwd(), server)}`;
}
